from .compare import Comparison as Comparison
from .compare import compare as compare
from .splits import LabeledKFold as LabeledKFold
from .splits import few_labels as few_labels
from .statistics import corrected_interval as corrected_interval
from .statistics import corrected_paired_t as corrected_paired_t
from .statistics import holm as holm
