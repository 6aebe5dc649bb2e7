from .base import TagColumn as TagColumn
from .crf import CRF as CRF
from .prototypes.ensemble import PrototypeEnsemble as PrototypeEnsemble
from .prototypes.tagger import PrototypeTagger as PrototypeTagger
from .stacked import StackedTagger as StackedTagger
from .stacked import jackknife_tags as jackknife_tags
