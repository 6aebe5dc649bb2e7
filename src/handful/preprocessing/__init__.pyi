from .extractor import Extractor as Extractor
from .extractor import Predicates as Predicates
from .templates import Atom as Atom
from .templates import Template as Template
from .templates import lookup_templates as lookup_templates
from .templates import parse_template as parse_template
from .templates import parse_templates as parse_templates
from .templates import ready_set as ready_set
