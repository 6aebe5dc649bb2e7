from .brown import BrownClusters as BrownClusters
from .condensed_classifier import CondensedFeatureClassifier as CondensedFeatureClassifier
from .condensed_features import CondensedFeatures as CondensedFeatures
from .similarity import ContextSimilarity as ContextSimilarity
from .text_stream import TextPart as TextPart
from .text_stream import text_parts as text_parts
