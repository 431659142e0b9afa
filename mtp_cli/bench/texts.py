"""Texts for a benchmark without a prompt file, written for this project."""

from __future__ import annotations

LIBRARY = """\
The town library on Mill Street will close for eleven weeks from the third of March. The roof of the \
reading hall, which dates from 1926, lets in water at four places, and the wooden floor beneath has begun \
to lift. The council had planned to repair only the roof, at a cost of 240,000, but an inspection in the \
autumn found that the wiring no longer meets the rules for public buildings. Both jobs will now be done at \
once, which raises the bill to 415,000 and saves a second closure in two years.

While the building is shut, about nine thousand of the sixty thousand volumes will be lent from two \
classrooms of the old school next to the market. The children's afternoon on Wednesdays moves there as \
well. Readers may keep what they have borrowed until the end of May without paying a fine, and books can \
be returned through the box at the town hall at any hour. The archive of local newspapers cannot be used \
until June. Anyone who needs it for an examination is asked to write to the head librarian, who will try \
to arrange access on single days.
"""

RIVER = """\
For most of the last century the river was too dirty to swim in. Tanneries and a paper mill upstream \
emptied their basins into it at night, and in dry summers the water below the bridge turned the colour of \
tea. The last tannery shut in 1988. The mill followed in 1994, after it had lost a case about dead trout. \
Since then the water has become clear, slowly at first and then within a few seasons, as mussels returned \
and began to filter it.

Last year a group of volunteers counted fish along six kilometres of the bank. They found fourteen kinds, \
among them barbel and grayling, which need cold water that is rich in oxygen. They also found something \
less welcome: the summer level is a third lower than it was in the eighties. Farmers take water for maize, \
and the springs give less after three winters with hardly any snow. The group proposes that pumping should \
stop when the gauge at the bridge falls below forty centimetres. The farmers' union answers that it would \
accept a limit if the town paid for two ponds that store winter rain. Talks are to begin in October.
"""

NOTICE = """\
Dear all, I am writting to remind you that the yearly check of the fire alarms take place on Thursday next \
week. The technicians will start on the top floor at eight in the morning and they expects to reach the \
ground floor before noon. Every alarm will sound for about ten second. Please do not leave the building \
unless the signal last longer than one minute, because that would means a real alarm.

If you has a meeting in this time, it might be a good idea to move it too the afternoon. The rooms in the \
annex is not affected. Some of you have ask whether the lifts can be used: they can, except between nine \
and half past nine, when there brakes are tested. Thank you for you're patience, and sorry for the noise.
"""

BREAD = """\
The baker starts at one in the morning, when the street is empty and the oven still holds some warmth from \
the day before. She mixes flour, water and salt with a piece of yesterday's dough and then leaves it alone \
for three hours. Most people, she says, fail at bread because they are in a hurry. Dough that has been \
given time needs little kneading and keeps fresh for four days; dough that was pushed with a lot of yeast \
is dry by the evening.

She bakes ninety loaves a night and sells all of them before ten. Twice she was offered a second shop, and \
twice she declined. A second shop would need a second baker, and a second baker would need an oven that \
behaves like this one, with its cold corner on the left and its habit of burning anything that is set too \
close to the door. What she would like is an apprentice. Three young people have tried so far. One could \
not stand the hours, one was allergic to rye, and the third now runs a bakery of her own two valleys \
away, and telephones on Sundays to ask about the weather and the dough.
"""

BUILT_IN = {"library": LIBRARY, "river": RIVER, "notice": NOTICE, "bread": BREAD}
