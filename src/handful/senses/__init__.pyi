from .classifier import SenseClassifier as SenseClassifier
from .features import context_features as context_features
from .features import make_contexts as make_contexts
from .harvesting import harvest as harvest
from .scoring import SenseScore as SenseScore
from .scoring import score_senses as score_senses
