from .brown import BrownClusters as BrownClusters
from .condensed import CondensedFeatures as CondensedFeatures
from .condensed.classifier import CondensedFeatureClassifier as CondensedFeatureClassifier
from .numbered_text import TextPart as TextPart
from .numbered_text import text_parts as text_parts
from .similarity import ContextSimilarity as ContextSimilarity
