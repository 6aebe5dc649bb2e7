from .annotations import AnnotationLog as AnnotationLog
from .server import serve as serve
from .table_session import TableSession as TableSession
from .table_session import TableStudio as TableStudio
from .text_session import TextSession as TextSession
from .text_session import TextStudio as TextStudio
