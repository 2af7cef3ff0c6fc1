//! The words the rules know, by what they can be. One row per sense; add words freely.

mod hash;
pub(crate) mod identifiers;
mod sense;

pub(crate) use hash::{AsIs, hash, hash_in, quick_hash_in};
pub(crate) use sense::Sense;

/// Sense, then words in lower case separated by white space.
pub(crate) static WORDS: &[(Sense, &str)] = &[
    // Names. `given.txt` is made by model/given_names.py from a public-domain list.
    (Sense::GIVEN, include_str!("words/given.txt")),
    (Sense::GIVEN_WORD, GIVEN_WORDS),
    (Sense::TITLE, TITLES),
    (Sense::ROLE, ROLES),
    (Sense::KIN, KIN),
    (Sense::INTRODUCES, INTRODUCES),
    (Sense::CREDENTIAL, CREDENTIALS),
    (
        Sense::DEGREE,
        "md rn lpn phd dds dmd pharmd crna aprn dnp lcsw lvn psyd dpm mbbs",
    ),
    (Sense::PARTICLE, PARTICLES),
    (Sense::EPONYM_TAIL, EPONYM_TAILS),
    (Sense::STOP, include_str!("words/stop.txt")),
    (Sense::STOP, CLOSING_WORDS),
    (Sense::STOP, DEPARTMENTS),
    // Dates and numbers.
    (Sense::MONTH, MONTHS),
    (Sense::DIGIT_WORD, DIGIT_WORDS),
    (Sense::NUMBER_WORD, NUMBER_WORDS),
    (Sense::ORDINAL, ORDINALS),
    // Addresses.
    (Sense::STREET, STREETS),
    (Sense::UNIT, UNITS),
    (Sense::STATE, STATES),
    (Sense::DIRECTION, DIRECTIONS),
    (Sense::BOX, BOXES),
    (Sense::ROAD, ROADS),
    (Sense::COUNTRY, COUNTRIES),
    (Sense::NO_STREET, NO_STREETS),
    // Between label and value.
    (Sense::FILLER, FILLERS),
    (Sense::MAIL_WORD, "at dot arroba punto"),
];

/// Units that make an amount of the number before them.
pub(crate) const MEASURES: &[&str] = &[
    "mg", "mcg", "ug", "gm", "grams", "kg", "lb", "lbs", "meq", "mmol", "ml", "cc", "dl", "unit",
    "units", "iu", "cfu", "mmhg", "bpm", "tabs", "tab", "tablets", "caps", "capsules", "puffs",
    "drops", "cells", "kcal", "calories", "plt", "wbc", "copies", "dollars", "hours", "hrs",
    "days", "weeks", "minutes",
];

/// Given names that are words as well; they count only if something else says "name".
const GIVEN_WORDS: &str = "will may mark grace hope faith joy rose june april august summer autumn daisy lily violet iris ivy \
    jasmine pearl ruby amber crystal jade frank grant chase hunter mason cooper carter tanner taylor parker porter \
    bill rob art gene dean earl guy hank lance miles rich rod ray pat sue dawn eve gay gail ginger harmony heath herb holly jack \
    jordan austin dallas houston lincoln madison savannah sydney victoria virginia georgia carolina florence charity mercy \
    patience prudence constance chance christian drew dale glen clay cliff forest brook robin martin angel jesus young long \
    little black white brown green gray grey king law park ford day bell wood woods stone rivers fields best good";

const TITLES: &str = "rn np lpn crna cna aprn fnp dr drs doctor mr mrs ms mx miss mister missus prof professor sir madam mme \
    nurse rev reverend pastor father fr sister rabbi imam judge justice attorney atty officer ofc \
    sgt ssg sfc cpl pvt lt ltc capt captain cmdr col colonel maj sen senator hon \
    don dona senor senora srta sra dra herr herrn frau shri smt coach sheikh dhr mevr mevrouw meneer monsieur madame mlle \
    signor signora pani senhor senhora hr pr";

const ROLES: &str = "patient patients pt pts client resident attending physician surgeon provider pcp \
    hospitalist cardiologist oncologist neurologist psychiatrist pediatrician anesthesiologist \
    radiologist pathologist urologist dermatologist nephrologist gastroenterologist endocrinologist \
    therapist counselor caregiver guardian caretaker interpreter midwife doula pharmacist dentist \
    intern fellow extern clinician caseworker coordinator paramedic emt phlebotomist dietitian \
    member subscriber insured beneficiary guarantor enrollee policyholder applicant employee \
    named name names signed cosigned dictated transcribed reviewed verified authenticated \
    sincerely regards hi hello dear thanks thank";

const KIN: &str = "mother father mom dad mum mommy daddy wife husband spouse son daughter brother \
    sister aunt uncle cousin niece nephew grandmother grandfather grandma grandpa grandson \
    granddaughter stepmother stepfather fiance fiancee partner girlfriend boyfriend friend \
    neighbor aunty auntie granny nana stepson stepdaughter baby twin roommate mama papa kid child toddler infant newborn boss coworker colleague \
    madre padre esposa esposo marido hija hijo hermana hermano abuela abuelo nieta nieto sobrina sobrino suegra suegro \
    novia novio vecina vecino cunada cunado tia tio mari epouse fille fils frere soeur tante oncle cousine conjoint conjointe \
    compagne compagnon voisine voisin neveu belle-mere beau-pere mutter vater schwester bruder tochter sohn ehemann ehefrau \
    enkel enkelin onkel lebensgefahrtin lebensgefahrte nichte neffe moglie marito figlia figlio fratello sorella nonna \
    nonno zia zio mae pai irma irmao filha filho avo neta neto moeder vader zus broer dochter zoon echtgenoot echtgenote \
    kleindochter kleinzoon buurvrouw buurman gattin gatte nachbarin nachbar freundin schwiegermutter schwiegervater sogra sogro \
    cugina cugino comadre compadre madrina padrino neighbour widow widower grandad granddad stepdad stepmum stepmom \
    godmother godfather ouma oupa oma opa oom gogo corka siostra matka ojciec babcia dziadek ciocia wujek wnuczka wnuk";

/// Words that close a letter in other languages, above its signature.
const CLOSING_WORDS: &str = "grussen gruessen grusse gruesse gruss exmo exma cumprimentos cordialement salutations saludos atentamente";

/// Parts of a hospital in other languages, as written under a signature.
const DEPARTMENTS: &str = "servicio unidad departamento oncologia urologia oftalmologia cirugia medicina patologia traumatologia \
    radiologia toxicologia cardiologia neurologia pediatria dermatologia";

const INTRODUCES: &str = "dtr dau hubby gf bf sig fob mob mgm mgf pgm pgf gma gpa nok poa hcp anes anesth phleb tech \
    scribe trooper deputy sheriff medic emt claimant decedent athlete student veteran inmate plaintiff tenant caller agent \
    charge preceptor orderly aide sitter chaplain dietician optometrist chiropractor hygienist housekeeper manager \
    supervisor director orthoptist podiatrist orthotist counsellor anaesthetist registrar consultant porter runner \
    lifeguard coder teacher solicitor matron physio physiotherapist sho spr volunteer driver carer kollege kollegin kollegen secretary clerk receptionist dispatcher attn per via cc re from to by with w thru via";

const CREDENTIALS: &str = "md do rn np pa phd dds dmd lpn lvn cna crna fnp aprn arnp dnp msn bsn pharmd \
    rph lcsw msw lmft lpc psyd dpm od dc dpt pt ot otr slp rd ldn cnm facs facp faap facc facog \
    mbbs mph mba esq jd ms ma bs ba ccc cde np-c pa-c fnp-c fnp-bc cns rrt emt-p";

const PARTICLES: &str = "de la del las los da das do dos di du van von der den ter ten le el al bin ben \
    ibn abu st san santa santo mac mc y e o";

const EPONYM_TAILS: &str = "disease syndrome catheter lymphoma sarcoma score scale criteria classification \
    sign test maneuver manoeuvre procedure operation repair palsy esophagus oesophagus tumor \
    tumour reflex stain fracture contracture nodes node hernia index technique method approach \
    position incision clamp forceps retractor tube drain catheterization bypass ulcer phenomenon \
    dementia chorea ataxia thyroiditis arthritis anemia anaemia law effect trial study foundation \
    institute clinic hospital medical university center centre school college pharmacy criteria \
    questionnaire inventory protocol regimen rule nomogram equation formula bodies body cells \
    cell glands gland tubule loop ring membrane duct canal bag balloon mask airway blade stent \
    graft valve pump line wire splint cast brace bandage dressing boot gait lines spots spot \
    nodules crisis attack encephalopathy deformity malformation neuropathy aphasia area point \
    triad tetralogy pentad sphincter space pouch laboratory solution agar virus bacillus exam \
    examination grade grading staging stage breakpoint suture approximation type patch monitor \
    apgar exercises stockings ligament tendon muscle fascia fossa plexus ganglion nerve disorder \
    sequence cancer carcinoma melanoma granulomatosis vasculitis purpura fever rash paralysis respirations \
    breathing correction interval paste shield shoe needle trocar scope laryngoscope speculum \
    tractor hook plate screw rod nail pin frame table chart schedule bed ward wing pavilion \
    building hall street avenue road drive lane intl international municipal airport arpt airfield airlines airways \
    county township borough parish stadium museum library memorial laws waiver nodule murmur";

const MONTHS: &str = "january february march april may june july august september october november december \
    jan feb mar apr jun jul aug sep sept oct nov dec \
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre \
    janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre \
    januar jaenner janner februar marz maerz juni juli oktober dezember okt dez \
    janeiro fevereiro marco maio junho julho setembro outubro novembro dezembro \
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre \
    januari februari maart mei augustus mrt ene abr dic janv fevr avr juil \
    stycznia lutego kwietnia czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia \
    ledna unora brezna dubna kvetna cervna cervence srpna rijna listopadu prosince \
    ianuarie februarie martie aprilie iunie iulie septembrie octombrie noiembrie decembrie \
    marcius aprilis majus augusztus szeptember ocak subat nisan mayis haziran temmuz eylul kasim aralik \
    ogos maret machi agustus desember julai disember ekim agustos aprili agosti septemba oktoba novemba desemba \
    pebrero marso hunyo hulyo setyembre oktubre nobyembre disyembre \
    apereira hanuere pepuere akuhata hepetema oketopa tihema marts maj gener febrer maig juny juliol agost desembre";

const DIGIT_WORDS: &str = "zero oh one two three four five six seven eight nine niner \
    cero uno dos tres cuatro cinco seis siete ocho nueve";

const NUMBER_WORDS: &str = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen \
    twenty thirty forty fifty sixty seventy eighty ninety hundred thousand and double triple";

const ORDINALS: &str = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth \
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth \
    twenty-first twenty-second twenty-third thirtieth thirty-first";

// USPS Publication 28, appendix C1, without abbreviations that are common words or units.
const STREETS: &str = "allee alley allees aly annex arcade arc avenue ave av aven avenues bayou beach bch bend bnd bluff \
    bluffs blf bottom boulevard blvd boul branch brg bridge brook brooks brk burg burgs bypass byp byway \
    camp canyon cyn cape causeway cswy center centers centre ctr circle circles cir cliff cliffs clf club \
    common commons corner corners course court courts ct cts cove coves creek crk crescent cres crest \
    crossing xing crossroad crossroads curve dale dam divide drive drives dr drs estate estates expressway \
    expy extension extensions fall falls fls ferry fry field fields fld flat flats ford fords forest forge \
    forges fork forks fort freeway fwy garden gardens gdns gateway gtwy glen glens green greens grove groves \
    grv harbor harbors hbr haven hvn heights hts highlands highway hwy hill hills hls hollow holw inlet inlt island \
    islands isle junction junctions jct key keys knoll knolls knl lake lakes lk land landing lndg lane \
    lanes ln light lights loaf lock locks lodge ldg loop mall manor manors mnr meadow meadows mdws mews mill \
    mills mission motorway mount mt mountain mountains mtn neck orchard orch oval overpass park parks parkway \
    parkways pkwy pky pass passage path paths pike pine pines place pl plain plains plaza plz point points \
    port ports prairie quay radial ramp ranch rapid rapids rest ridge ridges rdg river road roads rd rds route row \
    rue run shoal shoals shore shores skyway spring springs spgs spur spurs square squares sq station \
    stravenue stream street streets str st sts summit terrace ter terr throughway trace track trafficway \
    trail trails trl tunnel turnpike tpke underpass union unions valley valleys viaduct view views vw \
    village villages ville vista walk walks wall way ways well wells close gate \
    strasse straat laan weg vej gade gate ulica utca gatan vei";

/// Words that end the reading of a street name: no street is called so.
const NO_STREETS: &str = "a and are as at but by day days did do for from g got had has have he her his hour hours hr \
    hrs i if in is it mcg mg minutes ml month months my no not on or patient patients percent po she that then \
    they times to units was we week weeks were when which who with year years yo you tablets tabs capsules puffs \
    drops cc kg lb lbs cm mm mmhg bpm meq mmol iu of the";

/// Road words before the name, in other languages.
const ROADS: &str = "rue via calle rua avenida avenue boulevard piazza viale corso camino paseo carrer strada chemin \
    ul ulica ulice rruga impasse allee quai plaza praca rambla carretera colonia vila";

const COUNTRIES: &str = "afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas \
    bahrain bangladesh barbados belarus belgium belize benin bhutan bolivia bosnia botswana brazil brunei \
    bulgaria burundi cambodia cameroon canada chad chile china colombia comoros congo croatia cuba cyprus \
    czechia denmark djibouti dominica ecuador egypt eritrea estonia ethiopia fiji finland france gabon \
    gambia germany ghana greece greenland grenada guatemala guinea guyana haiti honduras hungary iceland \
    india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kiribati korea \
    kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein lithuania luxembourg macedonia \
    madagascar malawi malaysia maldives mali malta mauritania mauritius mexico micronesia moldova monaco \
    mongolia montenegro morocco mozambique myanmar namibia nauru nepal netherlands nicaragua niger nigeria \
    norway oman pakistan palau panama paraguay peru philippines poland portugal qatar romania russia rwanda \
    samoa senegal serbia seychelles singapore slovakia slovenia somalia spain sudan suriname swaziland \
    sweden switzerland syria taiwan tajikistan tanzania thailand togo tonga tunisia turkey turkmenistan \
    tuvalu uganda ukraine uruguay uzbekistan vanuatu venezuela vietnam yemen zambia zimbabwe usa";

const UNITS: &str = "apt apartment apts suite ste unit floor fl flr room rm bldg building lot trlr trailer spc ph \
    penthouse basement bsmt space flat plot block";

const STATES: &str = "al ak az ar ca co ct de dc fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv \
    nh nj nm ny nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy pr gu vi as mp fm mh pw aa ae ap \
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii \
    idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan \
    minnesota mississippi missouri montana nebraska nevada hampshire jersey mexico york carolina \
    dakota ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington \
    wisconsin wyoming";

const DIRECTIONS: &str = "n s e w ne nw se sw north south east west northeast northwest southeast southwest \
    no so";

const BOXES: &str = "po pob box postbox postfach postbus casella caixa private rr rt route general hc psc cmr unit uss usns usnv usnc uscgc usdp";

const FILLERS: &str = "is was are be as no num number nbr numero id ident identifier code on of for the a an \
    my his her their our your this patient's pt patient file record listed reads read equals eq to \
    in at ending ends end last four 4 digits these following follows value here's its it's it \
    current currently new old also being recorded documented verified confirmed stated states said \
    says reported given provided called and or still has have date by with i i'm he she they \
    es el la su mi de confirm please correct actually starts starting begins beginning under using \
    me us him them shown shows entered into from use that this would should which ending card line home cell work \
    here uh um yeah yes sure ok okay well just mm dd yy yyyy termina terminan en ultimos son \
    mobile day evening night maybe perhaps probably possibly primary secondary main alternate alt best office";
