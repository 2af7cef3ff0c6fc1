//! The words the rules know, by what they can be. One row per sense; add words freely.

use crate::lexicon::Sense;

/// Sense, then words in lower case separated by white space.
pub(crate) static WORDS: &[(Sense, &str)] = &[
    // Names. `given.txt` is made by model/given_names.py from a public-domain list.
    (Sense::GIVEN, include_str!("words/given.txt")),
    (Sense::TITLE, TITLES),
    (Sense::ROLE, ROLES),
    (Sense::KIN, KIN),
    (Sense::CREDENTIAL, CREDENTIALS),
    (Sense::PARTICLE, PARTICLES),
    (Sense::EPONYM_TAIL, EPONYM_TAILS),
    (Sense::STOP, include_str!("words/stop.txt")),
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
    (Sense::DWELLING, DWELLINGS),
    // Between label and value.
    (Sense::FILLER, FILLERS),
    (Sense::MAIL_WORD, "at dot arroba punto"),
];

const TITLES: &str = "dr drs doctor mr mrs ms mx miss mister missus prof professor sir madam mme \
    nurse rev reverend pastor father fr sister rabbi imam judge justice attorney atty officer ofc \
    sgt ssg sfc cpl pvt lt ltc capt captain cmdr col colonel maj gen general sen senator rep hon \
    don dona senor senora srta sra herr frau";

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
    neighbor baby twin roommate mama papa kid child toddler infant newborn boss coworker colleague";

const CREDENTIALS: &str = "md do rn np pa phd dds dmd lpn lvn cna crna fnp aprn arnp dnp msn bsn pharmd \
    rph lcsw msw lmft lpc psyd dpm od dc dpt pt ot otr slp rd ldn cnm facs facp faap facc facog \
    mbbs mph mba esq jd ms ma bs ba ccc cde np-c pa-c fnp-c fnp-bc cns rrt emt-p";

const PARTICLES: &str = "de la del las los da das do dos di du van von der den ter ten le el al bin ben \
    ibn abu st san santa mac mc y e o";

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
    cancer carcinoma melanoma granulomatosis vasculitis purpura fever rash paralysis respirations \
    breathing correction interval paste shield shoe needle trocar scope laryngoscope speculum \
    tractor hook plate screw rod nail pin frame table chart schedule bed ward wing pavilion \
    building hall street avenue road drive lane";

const MONTHS: &str = "january february march april may june july august september october november december \
    jan feb mar apr jun jul aug sep sept oct nov dec \
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre";

const DIGIT_WORDS: &str = "zero oh one two three four five six seven eight nine niner \
    cero uno dos tres cuatro cinco seis siete ocho nueve";

const NUMBER_WORDS: &str = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen \
    twenty thirty forty fifty sixty seventy eighty ninety hundred thousand and double triple";

const ORDINALS: &str = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth \
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth \
    twenty-first twenty-second twenty-third thirtieth thirty-first";

const STREETS: &str = "street st avenue ave av boulevard blvd road rd drive dr lane ln court ct circle cir \
    place pl plaza plz terrace ter terr parkway pkwy pky way trail trl tr square sq loop alley aly \
    highway hwy freeway fwy expressway expy turnpike tpke pike crossing xing crescent cres close \
    mews row walk path pass ridge rdg run creek crk cove cv point pt hill hills hls hollow holw \
    heights hts grove grv glen gln gardens gdns garden green grn meadow meadows mdws manor mnr \
    park parks park's valley vly view vw vista vis village vlg bend bnd bluff blf bluffs bridge \
    brg brook brk canyon cyn causeway cswy center ctr cliff clf common commons cmns corner cor \
    corners cors course crse estate estates est ests extension ext falls fls ferry fry field \
    fields flds flat flats forest frst forge frg fork forks frk garden gateway gtwy harbor hbr \
    haven hvn inlet inlt island is isle junction jct key knoll knl knolls lake lk lakes landing \
    lndg light loaf lock lodge ldg mall mill mills ml mls mission msn motorway mtwy mount mt \
    mountain mtn neck orchard orch oval overpass opas parkways passage psge pine pines pnes plain \
    plains plns port prt prairie pr radial ranch rnch rapid rapids rpds rest river riv route rte \
    shoal shoals shls shore shores shrs skyway skwy spring springs spgs spur stravenue stra stream \
    strm summit smt throughway trwy trace trce track trak trafficway tunnel tunl turn underpass \
    union un unions viaduct via ville vl walks wall wells well wls ways station sta strand \
    calle avenida camino paseo via strasse rue";

const UNITS: &str = "apt apartment apts suite ste unit floor fl flr room rm bldg building lot trlr trailer \
    space spc dept department ph penthouse no upper lower rear front basement bsmt slip hngr lobby \
    lbby office ofc side stop box";

const STATES: &str = "al ak az ar ca co ct de dc fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv \
    nh nj nm ny nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy pr gu vi as mp fm mh pw aa ae ap \
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii \
    idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan \
    minnesota mississippi missouri montana nebraska nevada hampshire jersey mexico york carolina \
    dakota ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington \
    wisconsin wyoming";

const DIRECTIONS: &str = "n s e w ne nw se sw north south east west northeast northwest southeast southwest \
    no so";

const BOXES: &str = "po pob box rr hc psc cmr apo fpo dpo unit rural route highway hwy county state interstate \
    cr sr fm uss usns usnv usdp";

const DWELLINGS: &str = "lives live living lived resides residing reside resident address addresses addr \
    domiciled located moved home house residence mail mailed ship shipped deliver delivered";

const FILLERS: &str = "is was are be as no num number nbr numero id ident identifier code on of for the a an \
    my his her their our your this patient's pt patient file record listed reads read equals eq to \
    in at ending ends end last four 4 digits these following follows value here's its it's it \
    current currently new old also being recorded documented verified confirmed stated states said \
    says reported given provided called and or still has have date by with i i'm he she they \
    es el la su mi de confirm please correct actually starts starting begins beginning under using \
    shown shows entered into from use that this would should which ending card line home cell work \
    mobile day evening night primary secondary main alternate alt best office";
