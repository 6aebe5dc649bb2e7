from .crf import CRF as CRF
from .jackknife import jackknife_tags as jackknife_tags
from .prototypes import PrototypeTagger as PrototypeTagger
from .prototypes import PrototypeTeam as PrototypeTeam
from .stacked import StackedTagger as StackedTagger
from .tag_column import TagColumn as TagColumn
from .two_pass import TwoPassTagger as TwoPassTagger
