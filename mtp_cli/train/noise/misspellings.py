"""Words that are often misspelt, each with the ways it is."""

from __future__ import annotations

from mtp_cli.train.noise.word_tables import read_table

MISSPELLINGS = read_table(
    """
absence: absense | abundance: abundence | accessible: accesible, accessable | accidentally: accidently
accommodate: accomodate, acommodate | accommodation: accomodation | accomplish: acomplish
according: acording | account: acount | achieve: acheive | achieved: acheived | achievement: acheivement
acknowledge: acknowlege | acquaintance: aquaintance | acquire: aquire | acquired: aquired
across: accross | actually: actualy, acctually | additional: aditional, addittional
address: adress, addres | advantage: advantege | advertisement: advertisment
although: altough, allthough, althou | amateur: amatuer | amount: ammount | analysis: analisys
annual: anual | another: anothr | apparent: apparant, aparent | apparently: apparantly
appearance: appearence | appreciate: apreciate | approach: aproach | appropriate: apropriate
argument: arguement | around: arround | arrangement: arangement | article: artical
assistance: assistence | athlete: athelete | attempt: atempt | attention: atention | attitude: atitude
audience: audiance | available: availible, avaliable, avalable | average: avarage | awkward: akward
balance: ballance | basically: basicly, basicaly | beautiful: beautifull, beutiful, beatiful
because: becouse, becuase, beacause, becase | become: becom | before: befor
beginning: begining, beggining | behavior: behavour | believe: beleive, belive
believed: beleived, belived | benefit: benifit | benefits: benifits, benefites
between: beetween, betwen | biggest: bigest | brilliant: briliant | building: bulding, buiding
business: bussiness, busines, buisness | calendar: calender | career: carrer, carreer
careful: carefull | category: catagory | caught: cought | century: centery | certain: certian, sertain
certainly: certainely | challenge: chalenge | character: charachter, caracter | chief: cheif
children: childern, childrens | choice: choise | choose: chooze | citizen: citizien | clearly: clearley
coming: comming | commercial: comercial | commission: comission | commitment: committment
committee: commitee, comittee | common: comon | communicate: comunicate | communication: comunication
community: comunity, communty | company: compagny, compny | comparison: comparision
competition: competion | completely: completly, completley | complicated: complecated
concentrate: consentrate | concerned: conserned | condition: condision | conscience: concience
conscious: concious, consious | consequence: consequense | consider: concider, considder
considered: concidered | consistent: consistant | continue: continu | continuous: continous
control: controll | controlled: controled | convenient: convinient, conveniant | correct: corect
countries: contries, countrys | country: contry, countrie | courage: currage | course: cource
create: creat | criticism: critisism | curiosity: curiousity | customer: costumer | customers: costumers
daily: dayly | dangerous: dangerouse, dangrous | deceive: decieve | decide: deside | decided: desided
decision: desicion, decison, decission | definitely: definately, definitly | definition: defenition
dependent: dependant | describe: discribe | described: discribed | desperate: desparate
despite: dispite | develop: develope, devolop | developed: develloped
development: developement, devlopment | difference: diference, differance
different: diffrent, diferent, differnt | difficult: dificult, diffcult, difficalt
difficulty: dificulty | disappear: dissapear, disapear | disappeared: dissapeared
disappointed: dissapointed, disapointed | discipline: disipline | discover: discouver | discuss: discus
disease: desease, diseaze | during: durring | easily: easly, easely | education: educaton, educasion
effect: efect | effective: efective | efficient: eficient, efficent | eighth: eigth | either: eather
embarrassed: embarassed, embarrased | emphasis: emphasys | encourage: encurage | enjoy: injoy
enough: enought, enouph, enogh | entirely: entirley | environment: enviroment, envirnment, enviornment
equipment: equipement | equipped: equiped | especially: especialy, expecially | essential: essencial
eventually: eventualy | everyone: everone | everything: everthing, everyting | evidence: evidense
exactly: exactley, exacly | exaggerate: exagerate | example: exemple, exampel
excellent: excelent, exellent | except: exept | excited: exited | exercise: exercice, excercise
existence: existance | expect: exspect | expected: excpected | expensive: expencive
experience: experiance, experence | explain: explane | explanation: explaination | extremely: extremly
facility: facillity | familiar: familliar | family: familly, famely | famous: famus
fascinating: facinating | favorite: favorit | february: febuary | field: feild
finally: finaly, finnaly | financial: finacial | follow: folow | following: folowing
foreign: foriegn, foregin | forty: fourty | forward: foward | friend: freind, frend | friends: freinds
fulfil: fullfil | further: furthur | generally: generaly | goal: gole
government: goverment, governement | grammar: grammer | grateful: greatful
guarantee: garantee, guarentee | guard: gaurd | guidance: guidence | happen: happend, hapen
happened: happend, hapened | happiness: happyness | health: helth | height: heigth, hight
helpful: helpfull | history: histroy | hospital: hospitel | however: howevere, how_ever
humorous: humourous | hundred: hundered | hurried: hurryed | idea: ideea | identity: indentity
imagine: imagin | immediately: immediatly, imediately | important: importent, importand, imporant
impossible: imposible | improve: inprove, improuve | improvement: improvment | include: inlcude
increase: increse, incrase | incredible: incredable | independent: independant
individual: indivdual, individuel | industry: industrie | influence: influense
information: infomation, informaton | instead: insted | intelligence: inteligence
intelligent: inteligent | interest: intrest | interested: intrested
interesting: intresting, interessting | international: internacional | interrupt: interupt
introduce: introduse | island: iland | jealous: jelous | journey: journy | kitchen: kichen
knowledge: knowlege, knowladge | language: langauge, languege | learning: lerning
legitimate: legitamate | leisure: liesure | length: lenght | lesson: leson | library: libary, liberary
license: lisence | literature: litterature | loneliness: lonelyness | lonely: lonley
magazine: magasine | maintain: maintane | maintenance: maintainance | manage: mannage
marriage: mariage | material: matirial | maybe: may_be | meant: ment | medicine: medecine
member: menber | mention: mension | million: milion | miracle: miricle | mischievous: mischievious
misspell: mispell | modern: morden | moment: momment | money: mony | morning: morining
mountain: mountin | naturally: naturaly | nature: natur | necessary: neccessary, necesary
neighbor: nieghbor | neighbors: nieghbors | neither: niether | nervous: nervious | ninety: ninty
noticeable: noticable | occasion: occassion, ocasion | occasionally: occasionaly, occassionally
occurred: occured, ocurred | occurrence: occurence | offered: offerred | official: oficial
often: offen | operate: operat | opinion: oppinion, openion | opportunity: oportunity, oppurtunity
opposite: oposite | ordinary: ordinery | organization: orginization | original: origional
parallel: paralel | parents: perents | particular: particuler | particularly: particulary
people: poeple, peaple, pepole | perceive: percieve | perhaps: perharps | permanent: permanant
permission: permision | person: persone | personal: personel | persuade: pursuade
phenomenon: phenomenom | physical: phisical | piece: peice | planning: planing | pleasant: plesant
please: pleas | political: politcal | population: populaton | possess: posess | possession: posession
possibility: posibility | possible: posible, possable | practical: pratical | practice: pratice
preferred: prefered | prejudice: prejudise | prepare: prepair | presence: presense | pressure: presure
prevent: prevant | previous: previus | primitive: primative | privilege: privelege, priviledge
probably: probaly, propably | problem: probleme, porblem | problems: problemes, porblems
procedure: proceedure | proceed: procede | process: proccess | produce: produse | product: produkt
profession: proffesion | professional: proffesional, profesional | professor: proffessor
program: programm | pronunciation: pronounciation | proper: propper | protect: protekt
psychology: phycology | public: publick | pursue: persue | quality: qualty | quantity: quanity
question: qestion | quickly: quickley | realize: relize | really: realy, realley | reason: raison, reson
receipt: reciept | receive: recieve | received: recieved, receved | recently: recentely
recognize: reconize | recommend: recomend, reccomend | reference: referance | referred: refered
regularly: reguraly | relationship: relationsship | relevant: relevent | religious: religous
remember: rember, remeber | repetition: repitition | require: requier | research: reserch, reaserch
resource: ressource | resources: ressources | response: responce | responsibility: responsability
responsible: responsable | restaurant: restaraunt, resturant | result: rezult | rhythm: rythm, rhythem
ridiculous: rediculous | safety: safty | satisfied: satisfyed | scarcely: scarcly
schedule: shedule, schedual | school: shool, scool | science: sience, scince | scientific: scientifique
scientist: sciencetist | secretary: secratary | seize: sieze | sense: sence | sentence: sentance
separate: seperate | separately: seperately | serious: seriuos | service: servise
several: severel, serveral | shining: shinning | should: shoud, shuld | significant: significent
similar: similiar, simular | simple: simpel | simply: simpley | since: sinse | sincerely: sincerly
situation: sitution, situasion | society: sociaty, socity | something: somthing, some_thing
sometimes: somtimes, some_times, sometime | special: speciel | specific: spesific | speech: speach
stopped: stoped | strength: strenght | strong: stronge | student: studend | students: studens
studying: studing | subject: suject | succeed: suceed | success: succes
successful: succesful, successfull | sudden: suden | suddenly: sudenly | sufficient: suficient
suggest: sugest | suggestion: sugestion | support: suport | suppose: supose | supposed: suppose
surely: surley | surprise: suprise | surprised: suprised | surrounded: surounded | system: sistem
teacher: theacher | technique: technic | technology: tecnology, technologie | temperature: temprature
temporary: temporery | tendency: tendancy | their: thier | themselves: themselfs, theirselves
therefore: therefor | thought: tought, thougt | through: throught, thru | together: togheter, togather
tomorrow: tommorow, tommorrow | tonight: tonite | toward: torward | traffic: trafic
transferred: transfered | tried: tryed | tries: trys | true: ture | truly: truely | twelfth: twelth
typical: tipical | understand: undestand, understant | unfortunately: unfortunatly, unfortunatelly
unique: uniqe | university: univercity, univeristy | unnecessary: unneccesary | until: untill
useful: usefull, usefel | using: useing | usually: usualy, ussually | vacuum: vaccum
valuable: valueable | various: varius | vegetable: vegtable | vehicle: vehical | very: verry
view: veiw | village: vilage | visible: visable | weather: wheather | wednesday: wensday | weird: wierd
welcome: wellcome | whether: wether, wheter | which: wich, witch, whitch | without: whitout, with_out
woman: women | women: woman, womens | wonderful: wonderfull | would: woud, whould | writing: writting
written: writen | wrote: writed | yield: yeild | young: yong | yourself: your_self
"""
)
