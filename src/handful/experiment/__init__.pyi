from .compare import Comparison as Comparison
from .compare import compare as compare
