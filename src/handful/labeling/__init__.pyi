from .budget import label_budget as label_budget
from .doubt import doubtful_labels as doubtful_labels
from .loop import LabelLoop as LabelLoop
from .loop import Pick as Pick
from .loop import next_rows as next_rows
from .merging import merge_labels as merge_labels
from .sentences import next_sentences as next_sentences
from .tagged_doubt import doubtful_tags as doubtful_tags
