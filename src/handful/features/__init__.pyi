from .extractor import Extractor as Extractor
from .language import Atom as Atom
from .language import Template as Template
from .language import parse_template as parse_template
from .language import parse_templates as parse_templates
from .predicates import Predicates as Predicates
from .template_sets import lookup_templates as lookup_templates
from .template_sets import ready_set as ready_set
