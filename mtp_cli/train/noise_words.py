"""What people get wrong in English: word lists for noise.py. Each maps the right form to wrong ones."""

from __future__ import annotations


def _table(text: str) -> dict[str, tuple[str, ...]]:
    """Lines of "right wrong wrong ..." as a mapping; "_" stands for a space."""
    rows = (line.replace("_", " ").split("|") for line in text.strip().splitlines())
    table: dict[str, tuple[str, ...]] = {}
    for row in rows:
        for entry in row:
            right, _, wrong = entry.strip().partition(":")
            table[right.strip()] = tuple(form.strip() for form in wrong.split(","))
    return table


MISSPELLINGS = _table(
    """
absence: absense | abundance: abundence | accessible: accesible, accessable | accidentally: accidently
accommodate: accomodate, acommodate | accommodation: accomodation | accomplish: acomplish
according: acording | account: acount | achieve: acheive | achieved: acheived | achievement: acheivement
acknowledge: acknowlege | acquaintance: aquaintance | acquire: aquire | acquired: aquired | across: accross
actually: actualy, acctually | additional: aditional, addittional | address: adress, addres
advantage: advantege | advertisement: advertisment | advice: advise | although: altough, allthough, althou
amateur: amatuer | amount: ammount | analysis: analisys | annual: anual | another: anothr, an_other
apparent: apparant, aparent | apparently: apparantly | appearance: appearence | appreciate: apreciate
approach: aproach | appropriate: apropriate | argument: arguement | around: arround | arrangement: arangement
article: artical | assistance: assistence | athlete: athelete | attempt: atempt | attention: atention
attitude: atitude | audience: audiance | available: availible, avaliable, avalable | average: avarage
awkward: akward | balance: ballance | basically: basicly, basicaly | beautiful: beautifull, beutiful, beatiful
because: becouse, becuase, beacause, becase | become: becom | before: befor | beginning: begining, beggining
behavior: behavour, behaviour | believe: beleive, belive | believed: beleived, belived | benefit: benifit
benefits: benifits, benefites | between: beetween, betwen | biggest: bigest | brilliant: briliant
building: bulding, buiding | business: bussiness, busines, buisness | calendar: calender | capital: capitol
career: carrer, carreer | careful: carefull | category: catagory | caught: cought | century: centery
certain: certian, sertain | certainly: certainely | challenge: chalenge | character: charachter, caracter
chief: cheif | children: childern, childrens | choice: choise | choose: chose, chooze | citizen: citizien
clearly: clearley | coming: comming | commercial: comercial | commission: comission | commitment: committment
committee: commitee, comittee | common: comon | communicate: comunicate | communication: comunication
community: comunity, communty | company: compagny, compny | comparison: comparision | competition: competion
completely: completly, completley | complicated: complecated | concentrate: consentrate | concerned: conserned
condition: condision | confident: confidant | conscience: concience | conscious: concious, consious
consequence: consequense | consider: concider, considder | considered: concidered | consistent: consistant
continue: continu | continuous: continous | control: controll | controlled: controled
convenient: convinient, conveniant | correct: corect | country: contry, countrie | countries: contries, countrys
course: cource | courage: currage | create: creat | criticism: critisism | curiosity: curiousity
customer: costumer | customers: costumers | daily: dayly | dangerous: dangerouse, dangrous | deceive: decieve
decide: deside | decided: desided | decision: desicion, decison, decission | definitely: definately, definitly
definition: defenition | dependent: dependant | describe: discribe | described: discribed
desperate: desparate | despite: dispite | develop: develope, devolop | developed: develloped
development: developement, devlopment | difference: diference, differance | different: diffrent, diferent, differnt
difficult: dificult, diffcult, difficalt | difficulty: dificulty | disappear: dissapear, disapear
disappeared: dissapeared | disappointed: dissapointed, disapointed | discipline: disipline | discover: discouver
discuss: discus | disease: desease, diseaze | during: durring | easily: easly, easely | economic: economical
education: educaton, educasion | effect: efect | effective: efective | efficient: eficient, efficent
eighth: eigth | either: ether, eather | embarrassed: embarassed, embarrased | emphasis: emphasise
encourage: encurage | enjoy: injoy | enough: enought, enouph, enogh | entirely: entirley
environment: enviroment, envirnment, enviornment | equipment: equipement | equipped: equiped | especially: especialy, expecially
essential: essencial | eventually: eventualy | everyone: everone | everything: everthing, everyting
evidence: evidense | exactly: exactley, exacly | exaggerate: exagerate | example: exemple, exampel
excellent: excelent, exellent | except: exept | excited: exited | exercise: exercice, excercise | existence: existance
expect: exspect | expected: excpected | expensive: expencive | experience: experiance, experence
explain: explane | explanation: explaination | extremely: extremly | facility: facillity | familiar: familliar
family: familly, famely | famous: famus | favorite: favorit | fascinating: facinating | February: Febuary
field: feild | finally: finaly, finnaly | financial: finacial | follow: folow | following: folowing
foreign: foriegn, foregin | forty: fourty | forward: foward | friend: freind, frend | friends: freinds
fulfil: fullfil | further: furthur | generally: generaly | goal: gole | government: goverment, governement
grammar: grammer | grateful: greatful | great: grate | guarantee: garantee, guarentee | guard: gaurd
guidance: guidence | happen: happend, hapen | happened: happend, hapened | happiness: happyness | health: helth
height: heigth, hight | helpful: helpfull | history: histroy | hospital: hospitel | however: howevere, how_ever
humorous: humourous | hundred: hundered | hurried: hurryed | idea: ideea | identity: indentity | imagine: imagin
immediately: immediatly, imediately | important: importent, importand, imporant | impossible: imposible
improve: inprove, improuve | improvement: improvment | include: inlcude | increase: increse, incrase
increasing: increasing | incredible: incredable | independent: independant | individual: indivdual, individuel
industry: industrie | influence: influense | information: infomation, informaton | instead: insted
intelligence: inteligence | intelligent: inteligent | interest: intrest | interested: intrested
interesting: intresting, interessting | international: internacional | interrupt: interupt | into: in_to
introduce: introduse | island: iland | jealous: jelous | journey: journy | judgment: judgement | kitchen: kichen
knowledge: knowlege, knowladge | language: langauge, languege | later: latter | learning: lerning
legitimate: legitamate | leisure: liesure | length: lenght | lesson: leson | library: libary, liberary
license: lisence | literature: litterature | loneliness: lonelyness | lonely: lonley | magazine: magasine
maintain: maintane | maintenance: maintainance | manage: mannage | marriage: mariage | material: matirial
maybe: may_be | meant: ment | medicine: medecine | member: menber | mention: mension | message: massage
million: milion | minute: minuet | miracle: miricle | mischievous: mischievious | misspell: mispell
modern: morden | moment: momment | money: mony | morning: morining | mountain: mountin | naturally: naturaly
nature: natur | necessary: neccessary, necesary | neighbor: nieghbor | neighbors: nieghbors | neither: niether
nervous: nervious | ninety: ninty | noticeable: noticable | occasion: occassion, ocasion
occasionally: occasionaly, occassionally | occurred: occured, ocurred | occurrence: occurence | offered: offerred
official: oficial | often: offen | operate: operat | opinion: oppinion, openion | opportunity: oportunity, oppurtunity
opposite: oposite | ordinary: ordinery | organization: organisation, orginization | original: origional
ought: aught | outside: out_side | parallel: paralel | parents: perents | particular: particuler
particularly: particulary | patience: patients | peace: piece | people: poeple, peaple, pepole | perceive: percieve
perhaps: perharps | permanent: permanant | permission: permision | person: persone | personal: personel
persuade: pursuade | phenomenon: phenomenom | physical: phisical | piece: peice | planning: planing
pleasant: plesant | please: pleas | political: politcal | population: populaton | possess: posess | possession: posession
possibility: posibility | possible: posible, possable | practical: pratical | practice: pratice
preferred: prefered | prejudice: prejudise | prepare: prepair | presence: presense | pressure: presure
prevent: prevant | previous: previus | primitive: primative | privilege: privelege, priviledge
probably: probaly, propably | problem: probleme, porblem | problems: problemes, porblems
procedure: proceedure | proceed: procede | process: proccess | produce: produse | product: produkt
profession: proffesion | professional: proffesional, profesional | professor: proffessor | program: programm
pronunciation: pronounciation | proper: propper | protect: protekt | psychology: phycology | public: publick
pursue: persue | quality: qualty | quantity: quanity | question: qestion | quickly: quickley | quiet: quite
quite: quiet | realize: realise, relize | really: realy, realley | reason: raison, reson | receipt: reciept
receive: recieve | received: recieved, receved | recently: recentely | recognize: reconize, recognise
recommend: recomend, reccomend | reference: referance | referred: refered | regularly: reguraly | relationship: relationsship
relevant: relevent | religious: religous | remember: rember, remeber | repetition: repitition | require: requier
research: reserch, reaserch | resource: ressource | resources: ressources | response: responce
responsible: responsable | responsibility: responsability | restaurant: restaraunt, resturant | result: rezult
rhythm: rythm, rhythem | ridiculous: rediculous | safety: safty | satisfied: satisfyed | scarcely: scarcly
schedule: shedule, schedual | school: shool, scool | science: sience, scince | scientific: scientifique
scientist: sciencetist | secretary: secratary | seize: sieze | sense: sence | sentence: sentance
separate: seperate | separately: seperately | serious: seriuos | service: servise | several: severel, serveral
shining: shinning | should: shoud, shuld | significant: significent | similar: similiar, simular | simple: simpel
simply: simpley | since: sinse | sincerely: sincerly | situation: sitution, situasion | society: sociaty, socity
soldier: solider | something: somthing, some_thing | sometimes: somtimes, some_times, sometime | special: speciel
specific: spesific | speech: speach | stopped: stoped | straight: strait | strength: strenght | strong: stronge
student: studend | students: studens | studying: studing | subject: suject | succeed: suceed | success: succes
successful: succesful, successfull | sudden: suden | suddenly: sudenly | sufficient: suficient | suggest: sugest
suggestion: sugestion | support: suport | suppose: supose | supposed: suppose | surely: surley | surprise: suprise
surprised: suprised | surrounded: surounded | system: sistem | teacher: theacher | technique: technic
technology: tecnology, technologie | temperature: temprature | temporary: temporery | tendency: tendancy
their: thier | themselves: themselfs, theirselves | therefore: therefor | thought: tought, thougt
through: throught, trough, thru | thorough: through | together: togheter, togather | tomorrow: tommorow, tommorrow
tonight: tonite | toward: torward | traffic: trafic | transferred: transfered | travel: travell
traveling: travelling | tried: tryed | tries: trys | true: ture | truly: truely | twelfth: twelth | typical: tipical
understand: undestand, understant | unfortunately: unfortunatly, unfortunatelly | unique: uniqe
university: univercity, univeristy | unnecessary: unneccesary | until: untill, until_to | useful: usefull, usefull
using: useing | usually: usualy, ussually | vacuum: vaccum | valuable: valueable | various: varius | vegetable: vegtable
vehicle: vehical | very: verry | view: veiw | village: vilage | visible: visable | weather: wheather
Wednesday: Wensday | weird: wierd | welcome: wellcome | whether: wether, wheter | which: wich, witch, whitch
whole: hole | whose: who's | without: whitout, with_out | woman: women | women: woman, womens | wonderful: wonderfull
would: woud, whould | writing: writting | written: writen | wrote: writed | yield: yeild | young: yong | yourself: your_self
"""
)

CONFUSED = _table(
    """
accept: except | except: accept | affect: effect | affects: effects | effect: affect | effects: affects
allowed: aloud | already: all_ready | altogether: all_together | any: a | are: is, our | as: like | aside: a_side
bare: bear | beside: besides | brake: break | break: brake | breath: breathe | breathe: breath | buy: by | by: buy
choose: chose | cite: site | close: closed | clothes: cloths | complement: compliment | council: counsel
desert: dessert | device: devise | die: dye | economic: economical | every: all | everyday: every_day
fair: fare | farther: further | few: little | fewer: less | find: fine | for: four, of | form: from | from: form
good: well | hear: here | heard: herd | here: hear | him: his | his: he's | hole: whole | hour: our
it's: its | its: it's | knew: new | know: now | knows: nose | later: latter | lead: led | led: lead | less: fewer
lie: lay | like: as | loose: lose | lose: loose | losing: loosing | lost: loss | made: make | many: much
much: many | new: knew | no: know, not | now: know | of: off | off: of | one: won | other: others | our: are
passed: past | past: passed | peace: piece | personal: personnel | plain: plane | principal: principle
principle: principal | quiet: quite | quite: quiet | raise: rise | right: write | rise: raise | role: roll | say: tell
said: told | scene: seen | see: watch | seen: saw | sight: site | some: any | than: then, that | that: who
their: there, they're | them: they | then: than | there: their, they're | these: this | they: them
they're: their, there | this: these, that | those: that | threw: through | through: threw | to: too, for | told: said
too: to | two: to | use: used | used: use | very: much | wait: weight | waste: waist | we: us | weak: week | wear: where
weather: whether | week: weak | well: good | were: where, was | where: were | whether: weather | which: witch, who
while: wile | who: which, whom | whole: hole | whom: who | whose: who's | with: whit | won: one | won't: wont
wood: would | would: wood | write: right | you're: your | your: you're
"""
)

AGREEMENT = _table(
    """
is: are | are: is | was: were | were: was | has: have | have: has | does: do | do: does | am: is
isn't: aren't | aren't: isn't | wasn't: weren't | weren't: wasn't | hasn't: haven't | haven't: hasn't
doesn't: don't | don't: doesn't
"""
)

PREPOSITIONS = _table(
    """
in: on, at, into | on: in, at, about | at: in, on, to | for: to, of, since | to: at, for, in | of: from, for, in
from: of, since | with: by, of, to | by: from, with | about: on, of | into: in, to | during: in, while
since: from, for | between: among | among: between | against: with | until: to, since
"""
)

IRREGULAR = _table(
    """
became: become, becomed | began: begin, begun, beginned | bought: buy, buyed | broke: break, breaked
brought: bring, bringed, brang | built: build, builded | came: come, comed | caught: catch, catched
chose: choose, choosed | did: do, done | drove: drive, drived | ate: eat, eated | fell: fall, falled | felt: feel, feeled
fought: fight, fighted | found: find, founded | forgot: forget, forgetted | gave: give, gived | went: go, gone, goed
got: get, getted | grew: grow, growed | had: have, has | heard: hear, heared | held: hold, holded | kept: keep, keeped
knew: know, knowed, known | left: leave, leaved | lost: lose, losed | made: make, maked | meant: mean, meaned
met: meet, meeted | paid: pay, payed | ran: run, runned | rose: rise, rised | said: say, sayed | sat: sit, sitted
saw: see, seen, seed | sent: send, sended | sold: sell, selled | spent: spend, spended | spoke: speak, speaked
stood: stand, standed | taught: teach, teached | thought: think, thinked | threw: throw, throwed | told: tell, telled
took: take, taked, taken | understood: understand, understanded | won: win, winned | wore: wear, weared
wrote: write, writed, written | gone: went, go | been: be, was | done: did, do | given: gave, give | known: knew, know
seen: saw, see | shown: show, showed | taken: took, take | written: wrote, write | written: wrote | grown: grew, grow
"""
)

UNCOUNTABLE = _table(
    """
advice: advices | information: informations | knowledge: knowledges | equipment: equipments | research: researches
evidence: evidences | homework: homeworks | furniture: furnitures | money: moneys | news: new | progress: progresses
software: softwares | traffic: traffics | music: musics | luggage: luggages | people: peoples | work: works
help: helps | staff: staffs | training: trainings | behavior: behaviors | pollution: pollutions | children: childs, childrens
men: mens, man | women: woman, womens | feet: foots, foot | teeth: tooths | lives: lifes, life | countries: country
"""
)

PHRASES = _table(
    """
discuss: discuss_about | discussed: discussed_about | mention: mention_about | emphasize: emphasize_on
enter: enter_to | entered: entered_to, entered_in | reach: reach_to | reached: reached_to, reached_at
approach: approach_to | lack: lack_of | contact: contact_with | explain: explain_about | marry: marry_with
married to: married_with | listen to: listen | listened to: listened | depend on: depend_of, depend_in
depends on: depends_of, depends_from | interested in: interested_on, interested_about | good at: good_in
afraid of: afraid_from | arrive at: arrive_to | arrived at: arrived_to | arrived in: arrived_to
consist of: consist_in | consists of: consists_on | responsible for: responsible_of | similar to: similar_with, similar_as
different from: different_of, different_than | according to: according_with, according | instead of: instead
because of: because | in spite of: in_spite, despite_of | despite: despite_of | able to: able | used to: use_to
more than: more_then | better: more_better | easier: more_easier | bigger: more_bigger | cheaper: more_cheap
best: most_best | easiest: most_easy | worse: more_bad | such as: such_like, as | as well as: as_well
as well: aswell | a lot of: alot_of, a_lot | a lot: alot | in front of: infront_of, in_front | in fact: infact
at least: atleast | at all: atall | each other: eachother | every day: everyday | no one: noone | all right: alright
would have: would_of | could have: could_of | should have: should_of | might have: might_of | cannot: can_not
let us: lets | look forward to: look_forward | to be: to_being, be | has been: have_been, is_been | have been: has_been, have_be
there are: there_is, there_have | there is: there_are, it_is | there were: there_was | do not: dont, not
does not: do_not, dosent | did not: didnt, do_not | is not: isnt, not | one of the: one_of, the_one_of
most of the: most_the, the_most_of | the same: same, a_same | the most: most, the_more | the first: first, the_firsts
for example: for_exemple, example | on the other hand: in_the_other_hand, on_other_hand | in order to: in_order, for
make sure: do_sure | take care of: take_care | so that: so | even if: even | even though: even, eventhough | kind of: kinds_of
a few: few | a little: little | too much: too_many | too many: too_much | in the world: on_the_world, in_world
at the same time: in_the_same_time | in the future: on_future, in_future | at home: in_home | go home: go_to_home
want to: want, wants_to | need to: need, needs_to | have to: have, must_to | going to: going, gonna | try to: try
people are: people_is | people have: people_has | I am: I'm_am, I | I have: I_has | he has: he_have | she has: she_have
they are: they_is, their | we are: we_is, we | it is: is, it | we have: we_has | who are: who_is, who | that are: that_is
which are: which_is, that_is | who have: who_has | not only: no_only | many people: many_peoples, much_people
every time: everytimes | all of the: all_the_of, all_of | some of the: some_the, some_of | other people: others_people, another_people
"""
)

THIRD_PERSON = frozenset("he she it this that everyone someone nobody".split())
PLURAL_SUBJECTS = frozenset("they we you i people these those who".split())
VERBS = frozenset(
    """add agree allow appear ask become begin believe bring build buy call carry change come consider continue create
    decide depend develop do drive eat enjoy expect explain fall feel find follow forget get give go grow happen have hear
    help hold hope include increase keep know lead learn leave like listen live look lose make mean meet move need offer
    open pay play prefer provide put reach read receive remember require run say see seem send serve show sit speak spend
    stand start stay stop study take talk teach tell think travel try turn understand use visit wait walk want watch win
    work write""".split()
)
PLURAL_CUES = frozenset(
    "many several few these those two three four five six seven ten some most all other various both different such "
    "numerous certain following own our their".split()
)
DROPPABLE = frozenset(
    "a an the of to is are was were in on at for that it and be been have has had will would with as from by not".split()
)
ADVERBS = frozenset(
    "always never often usually sometimes really already also only still even just probably certainly finally "
    "generally quickly slowly easily carefully suddenly completely clearly recently soon then now".split()
)
ABSTRACT = frozenset(
    "life nature society people education money love happiness freedom science history technology information children "
    "students work music time power government war peace business health knowledge experience success art law".split()
)
NEIGHBOUR_KEYS = dict(
    zip(
        "qwertyuiopasdfghjklzxcvbnm",
        "wa qes wrd etf ryg tuh yij uok ipl ol qsz adwx sfec dgrv fhtb gjyn hkum jlin kop xas zcsd xvdf cbfg vngh bmhj njk".split(),
        strict=True,
    )
)
SOUNDS = (
    ("ie", "ei"), ("ei", "ie"), ("ou", "o"), ("ph", "f"), ("sc", "s"), ("ck", "k"), ("gh", ""), ("ea", "e"),
    ("ence", "ance"), ("ance", "ence"), ("tion", "sion"), ("able", "ible"), ("ible", "able"), ("ent", "ant"),
    ("ant", "ent"), ("ful", "full"), ("ly", "ley"), ("er", "ar"), ("or", "er"), ("wh", "w"), ("qu", "q"),
)  # fmt: skip
COMMA_CUES = frozenset("that because which and when if who while before after since than as to".split())
