from .journal import Journal as Journal
from .serving import serve as serve
from .table_desk import TableDesk as TableDesk
from .table_studio import TableStudio as TableStudio
from .text_desk import TextDesk as TextDesk
from .text_studio import TextStudio as TextStudio
