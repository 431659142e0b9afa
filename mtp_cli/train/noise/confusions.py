"""Words and phrases that writers and learners of English confuse, each with what they put instead."""

from __future__ import annotations

from mtp_cli.train.noise.word_tables import read_table, read_words

CONFUSED = read_table(
    """
accept: except | affect: effect | affects: effects | allowed: aloud | already: all_ready
altogether: all_together | are: is, our | as: like | aside: a_side | bare: bear | beside: besides
brake: break | break: brake | breath: breathe | breathe: breath | buy: by | by: buy | choose: chose
cite: site | close: closed | clothes: cloths | complement: compliment | council: counsel
desert: dessert | device: devise | die: dye | economic: economical | effect: affect | effects: affects
every: all | everyday: every_day | except: accept | fair: fare | farther: further | few: little
fewer: less | find: fine | for: four, of | form: from | from: form | good: well | hear: here
heard: herd | here: hear | him: his | his: he's | hole: whole | hour: our | it's: its | its: it's
knew: new | know: now | knows: nose | later: latter | lead: led | led: lead | less: fewer | lie: lay
like: as | loose: lose | lose: loose | losing: loosing | lost: loss | made: make | many: much
much: many | new: knew | no: know, not | now: know | of: off | off: of | one: won | other: others
our: are | passed: past | past: passed | peace: piece | personal: personnel | plain: plane
principal: principle | principle: principal | quiet: quite | quite: quiet | raise: rise | right: write
rise: raise | role: roll | said: told | say: tell | scene: seen | see: watch | seen: saw | sight: site
some: any | than: then, that | that: who | their: there, they're | them: they | then: than
there: their, they're | these: this | they: them | they're: their, there | this: these, that
those: that | threw: through | through: threw | to: too, for | told: said | too: to | two: to
use: used | used: use | very: much | wait: weight | waste: waist | we: us | weak: week | wear: where
weather: whether | week: weak | well: good | were: where, was | where: were | whether: weather
which: witch, who | while: wile | who: which, whom | whole: hole | whom: who | whose: who's | with: whit
won: one | won't: wont | wood: would | would: wood | write: right | you're: your | your: you're
"""
)

AGREEMENT = read_table(
    """
am: is | are: is | aren't: isn't | do: does | does: do | doesn't: don't | don't: doesn't | has: have
hasn't: haven't | have: has | haven't: hasn't | is: are | isn't: aren't | was: were | wasn't: weren't
were: was | weren't: wasn't
"""
)

PREPOSITIONS = read_table(
    """
about: on, of | against: with | among: between | at: in, on, to | between: among | by: from, with
during: in, while | for: to, of, since | from: of, since | in: on, at, into | into: in, to
of: from, for, in | on: in, at, about | since: from, for | to: at, for, in | until: to, since
with: by, of, to
"""
)

IRREGULAR = read_table(
    """
ate: eat, eated | became: become, becomed | been: be, was | began: begin, begun, beginned
bought: buy, buyed | broke: break, breaked | brought: bring, bringed, brang | built: build, builded
came: come, comed | caught: catch, catched | chose: choose, choosed | did: do, done | done: did, do
drove: drive, drived | fell: fall, falled | felt: feel, feeled | forgot: forget, forgetted
fought: fight, fighted | found: find, founded | gave: give, gived | given: gave, give | gone: went, go
got: get, getted | grew: grow, growed | grown: grew, grow | had: have, has | heard: hear, heared
held: hold, holded | kept: keep, keeped | knew: know, knowed, known | known: knew, know
left: leave, leaved | lost: lose, losed | made: make, maked | meant: mean, meaned | met: meet, meeted
paid: pay, payed | ran: run, runned | rose: rise, rised | said: say, sayed | sat: sit, sitted
saw: see, seen, seed | seen: saw, see | sent: send, sended | shown: show, showed | sold: sell, selled
spent: spend, spended | spoke: speak, speaked | stood: stand, standed | taken: took, take
taught: teach, teached | thought: think, thinked | threw: throw, throwed | told: tell, telled
took: take, taked, taken | understood: understand, understanded | went: go, gone, goed
won: win, winned | wore: wear, weared | written: wrote | wrote: write, writed, written
"""
)

UNCOUNTABLE = read_table(
    """
advice: advices | behavior: behaviors | children: childs, childrens | countries: country
equipment: equipments | evidence: evidences | feet: foots, foot | furniture: furnitures | help: helps
homework: homeworks | information: informations | knowledge: knowledges | lives: lifes, life
luggage: luggages | men: mens, man | money: moneys | music: musics | news: new | people: peoples
pollution: pollutions | progress: progresses | research: researches | software: softwares
staff: staffs | teeth: tooths | traffic: traffics | training: trainings | women: woman, womens
work: works
"""
)

PHRASES = read_table(
    """
a_few: few | a_little: little | a_lot: alot | a_lot_of: alot_of, a_lot | able_to: able
according_to: according_with, according | afraid_of: afraid_from | all_of_the: all_the_of, all_of
all_right: alright | approach: approach_to | arrive_at: arrive_to | arrived_at: arrived_to
arrived_in: arrived_to | as_well: aswell | as_well_as: as_well | at_all: atall | at_home: in_home
at_least: atleast | at_the_same_time: in_the_same_time | because_of: because | best: most_best
better: more_better | bigger: more_bigger | cannot: can_not | cheaper: more_cheap
consist_of: consist_in | consists_of: consists_on | contact: contact_with | could_have: could_of
depend_on: depend_of, depend_in | depends_on: depends_of, depends_from | despite: despite_of
did_not: didnt, do_not | different_from: different_of, different_than | discuss: discuss_about
discussed: discussed_about | do_not: dont, not | does_not: do_not, dosent | each_other: eachother
easier: more_easier | easiest: most_easy | emphasize: emphasize_on | enter: enter_to
entered: entered_to, entered_in | even_if: even | even_though: even, eventhough | every_day: everyday
every_time: everytimes | explain: explain_about | for_example: for_exemple, example
go_home: go_to_home | going_to: going, gonna | good_at: good_in | has_been: have_been, is_been
have_been: has_been, have_be | have_to: have, must_to | he_has: he_have | i_am: I'm_am, I
i_have: I_has | in_fact: infact | in_front_of: infront_of, in_front | in_order_to: in_order, for
in_spite_of: in_spite, despite_of | in_the_future: on_future, in_future
in_the_world: on_the_world, in_world | instead_of: instead
interested_in: interested_on, interested_about | is_not: isnt, not | it_is: is, it | kind_of: kinds_of
lack: lack_of | let_us: lets | listen_to: listen | listened_to: listened | look_forward_to: look_forward
make_sure: do_sure | many_people: many_peoples, much_people | married_to: married_with
marry: marry_with | mention: mention_about | might_have: might_of | more_than: more_then
most_of_the: most_the, most_of | need_to: need, needs_to | no_one: noone | not_only: no_only
on_the_other_hand: in_the_other_hand, on_other_hand | one_of_the: one_of, the_one_of
other_people: others_people, another_people | people_are: people_is | people_have: people_has
reach: reach_to | reached: reached_to, reached_at | responsible_for: responsible_of | she_has: she_have
should_have: should_of | similar_to: similar_with, similar_as | so_that: so
some_of_the: some_the, some_of | such_as: such_like, as | take_care_of: take_care | that_are: that_is
the_first: first, the_firsts | the_most: most, the_more | the_same: same, a_same
there_are: there_is, there_have | there_is: there_are, it_is | there_were: there_was
they_are: they_is, their | to_be: to_being, be | too_many: too_much | too_much: too_many | try_to: try
used_to: use_to | want_to: want, wants_to | we_are: we_is, we | we_have: we_has
which_are: which_is, that_is | who_are: who_is, who | who_have: who_has | worse: more_bad
would_have: would_of
"""
)

THIRD_PERSON = read_words(
    """
he she it this that everyone someone nobody
"""
)
"""subjects behind which "go" is wrong"""
PLURAL_SUBJECTS = read_words(
    """
they we you i people these those who
"""
)
"""subjects behind which "goes" is wrong"""
VERBS = read_words(
    """
add agree allow appear ask become begin believe bring build buy call carry change come consider
continue create decide depend develop do drive eat enjoy expect explain fall feel find follow forget
get give go grow happen have hear help hold hope include increase keep know lead learn leave like
listen live look lose make mean meet move need offer open pay play prefer provide put reach read
receive remember require run say see seem send serve show sit speak spend stand start stay stop
study take talk teach tell think travel try turn understand use visit wait walk want watch win work
write
"""
)
"""common verbs in their base form"""
PLURAL_CUES = read_words(
    """
many several few these those two three four five six seven ten some most all other various both
different such numerous certain following own our their
"""
)
"""words behind which a plural often stands"""
DROPPABLE = read_words(
    """
a an the of to is are was were in on at for that it and be been have has had will would with as from
by not
"""
)
"""small words that get left out"""
ADVERBS = read_words(
    """
always never often usually sometimes really already also only still even just probably certainly
finally generally quickly slowly easily carefully suddenly completely clearly recently soon then now
"""
)
"""words that get put in the wrong place"""
ABSTRACT = read_words(
    """
life nature society people education money love happiness freedom science history technology
information children students work music time power government war peace business health knowledge
experience success art law
"""
)
"""nouns that mostly go without an article and a capital"""
COMMA_CUES = read_words(
    """
that because which and when if who while before after since than as to
"""
)
"""words beside which a needless comma is often put"""
