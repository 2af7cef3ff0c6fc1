//! The words that distinguish names of people from names of programs.

/// Words that make up identifiers; `code.txt` is made by model/code_words.py.
pub(crate) const CODE: &str = include_str!("code.txt");

/// The words of an identifier after which nothing in it is a person: houses are named after people.
pub(crate) const HOUSES: &str = "center centre clinic college dept foundation health healthcare hospital institute memorial \
    medical pharmacy school university";

/// Words of programs, accounts and places that `words/code.txt` lacks.
pub(crate) const PROGRAM_WORDS: &str = "admin agents analyst assistant billing bot bots chatbot claude coder coordinator copilot \
    critic demo dept desk developer django editor evaluator executor expert flask gemini gpt guest helper human jenkins \
    kafka kotlin kubernetes lab labs las lead llama llm loma los maven metrics mini mistral mount operator orchestrator \
    paginate paginator planner postgres presto proxy reviewer role runner saint sales san santa scala spark spring st \
    student summarizer supervisor surfer teacher team teams tenant tester tomcat translator triage tutor voice weather \
    worker writer alpha beta gamma delta omega angular ansible anthropic babel celery deepseek elastic eslint fastapi \
    grafana gunicorn huggingface jupyter keras kibana langchain mixtral mongo netlify nginx numpy ollama openai pandas \
    prettier pydantic pytorch qwen redis scipy sklearn supabase svelte tensorflow terraform traefik uvicorn vercel vite \
    vllm webpack zookeeper";

/// Given names that are also software, commands or abbreviations; they do not speak for a person.
pub(crate) const BRANDS: &str = "ada albert alexa ambari apache bard bert blake cassandra celeste chan chef cortana darwin deb del \
    dexter eda elmo ermine fae felix flora hang hudson isa jackson jasmine jenkins julia karma lin luna matilda mercury \
    meta minerva monica pandora ping pip prometheus roberta sha siri tess travis vera wanda watson";

/// Surnames that are everyday words and rarely a word of a program.
pub(crate) const WORD_SURNAMES: &str = "baker bishop brown carpenter cook cooper fisher fox gray green hunt hunter king knight lane \
    marshall mason miller palmer parker porter price rice rivers rose shepherd smith stone taylor turner walker ward \
    waters weaver west white wood woods wright young";

/// Family names that come before the given name and are not another word.
pub(crate) const FAMILIES: &str =
    "choi hoang huang huynh liang nguyen pham tran yoon zhang zhao zheng zhou";

pub(crate) const TITLES: &str = "doctor dr miss mr mrs prof";

/// Ends of surnames that are words: Newman, Robinson, Littlefield.
pub(crate) const SURNAME_ENDS: &str =
    "berg by field ford house land ley man ridge smith son stein stone ton well wood worth";
