"""Words that get taken for each other, and the forms of irregular words. One family a line; _ is a blank."""

from __future__ import annotations

_CONFUSED = """
a an the
this these
that those
its it's
their there they're
your you're
to too
then than
whose who's
who whom which that
is are was were be been being
am is are
has have had having
do does did done doing
can could
will would
much many
less fewer
they them
he him
she her
we us
i me
other another others
every each all
good well
real really
lose loose
affect effect
accept except
advice advise
alot a_lot
everyday every_day
maybe may_be
infront in_front
aswell as_well
eachother each_other
"""
_IRREGULAR = """
begin begins began begun beginning
become becomes became becoming
break breaks broke broken breaking
bring brings brought bringing
build builds built building
buy buys bought buying
catch catches caught catching
choose chooses chose chosen choosing
come comes came coming
cost costs costing
cut cuts cutting
draw draws drew drawn drawing
drink drinks drank drunk drinking
drive drives drove driven driving
eat eats ate eaten eating
fall falls fell fallen falling
feel feels felt feeling
fight fights fought fighting
find finds found finding
fly flies flew flown flying
forget forgets forgot forgotten forgetting
get gets got gotten getting
give gives gave given giving
go goes went gone going
grow grows grew grown growing
hear hears heard hearing
hold holds held holding
keep keeps kept keeping
know knows knew known knowing
lead leads led leading
learn learns learned learning
leave leaves left leaving
let lets letting
lose loses lost losing
make makes made making
mean means meant meaning
meet meets met meeting
pay pays paid paying
put puts putting
read reads reading
ride rides rode ridden riding
rise rises rose risen rising
run runs ran running
say says said saying
see sees saw seen seeing
sell sells sold selling
send sends sent sending
shut shuts shutting
sing sings sang sung singing
sit sits sat sitting
sleep sleeps slept sleeping
speak speaks spoke spoken speaking
spend spends spent spending
stand stands stood standing
swim swims swam swum swimming
take takes took taken taking
teach teaches taught teaching
tell tells told telling
think thinks thought thinking
throw throws threw thrown throwing
understand understands understood understanding
wear wears wore worn wearing
win wins won winning
write writes wrote written writing
child children childs childrens
foot feet foots
life lives
man men mans
person people persons peoples
tooth teeth
wife wives
woman women womans womens
analysis analyses
information informations
knowledge knowledges
equipment equipments
advice advices
homework homeworks
furniture furnitures
"""
_CONTRACTED = """
don't doesn't didn't isn't aren't wasn't weren't can't couldn't wouldn't shouldn't haven't hasn't hadn't i'm
i've you're they're they've we've that's there's what's it'll they'll you'll
"""
_CAPITALS = """
monday tuesday wednesday thursday friday saturday sunday january february april june july august september
october november december english german french spanish american european i i'm i've i'll i'd
"""

_NO_WORDS = """
dont doesnt didnt isnt arent wasnt werent couldnt wouldnt shouldnt havent hasnt hadnt im ive youre theyre weve
thats theres whats itll theyll youll
"""

_OPENINGS = """
accordingly actually additionally also besides consequently finally first firstly fortunately furthermore
hence however indeed instead lastly likewise meanwhile moreover nevertheless nonetheless nowadays otherwise
second secondly similarly therefore third thirdly thus unfortunately
above_all after_all all_in_all as_a_consequence as_a_result at_first by_contrast by_the_way first_of_all
for_example for_instance in_addition in_conclusion in_contrast in_fact in_general in_my_opinion in_other_words
in_short in_summary last_but_not_least of_course on_the_contrary on_the_one_hand on_the_other_hand to_sum_up
"""


def _families() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for row in (_CONFUSED + _IRREGULAR).split("\n"):
        words = [word.replace("_", " ") for word in row.split()]
        for word in words:
            found.setdefault(word, []).extend(other for other in words if other != word)
    for word in _CONTRACTED.split():
        found.setdefault(word.replace("'", ""), []).append(word)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


FAMILIES = _families()
"""lower-case word -> what may have been meant"""
OPENINGS = frozenset(phrase.replace("_", " ") for phrase in _OPENINGS.split())
"""what a comma follows at the beginning of a sentence, most of the time"""
UNFINISHED = frozenset(_NO_WORDS.split())
"""contracted words without their apostrophe that are no words of their own"""
CAPITALISED = frozenset(_CAPITALS.split())
"""words that always have a capital"""
