from .condensed import CondensedNN as CondensedNN
from .condensed import SemiSupervisedCondensedNN as SemiSupervisedCondensedNN
from .kernel_pca import CompositeKernelPCA as CompositeKernelPCA
from .kernel_pca import KernelPCAClassifier as KernelPCAClassifier
from .ordinal import OrdinalKNN as OrdinalKNN
from .rows import ScalingWarning as ScalingWarning
from .tri_training import TriTraining as TriTraining
