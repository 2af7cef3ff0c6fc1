//! Rate at which decision records become durable, beside the limits of the disk and of the bare engine.

#![allow(
    clippy::unwrap_used,
    reason = "a measurement that cannot go on should stop"
)]

mod bare;
mod load;
#[path = "../../tests/support/postgres.rs"]
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest of it")]
mod postgres;

use load::{Load, Measured};
use phigate_store::{MasterKeySource, Options, Target, Vault};
use postgres::Postgres;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Settings of the measurement.
struct Settings {
    engines: Vec<String>,
    delays: Vec<Duration>,
    folder: PathBuf,
    load: Load,
}

fn main() {
    let settings = read_settings();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    println!(
        "{} callers, {} bytes per request, {} s per row\n\n\
         engine     delay |  fsync/s: record    group | records/s  group   ceiling  share |   engine  share |     p50      p99 |   CPU",
        settings.load.waiting, settings.load.bytes, settings.load.seconds
    );
    for engine in &settings.engines {
        match engine.as_str() {
            "sqlite" => {
                for delay in &settings.delays {
                    runtime.block_on(measure_sqlite(&settings, *delay));
                }
            }
            "postgres" => {
                let Some(server) = Postgres::start() else {
                    continue;
                };
                for delay in &settings.delays {
                    runtime.block_on(measure_postgres(&settings, &server, *delay));
                }
            }
            other => panic!("unknown engine {other}"),
        }
    }
}

async fn measure_sqlite(settings: &Settings, delay: Duration) {
    let place = tempfile::tempdir_in(&settings.folder).unwrap();
    let options = options(place.path(), Target::Folder(place.path().join("data")));
    let vault = Vault::open(Options {
        sync_delay: delay,
        ..options
    })
    .await
    .unwrap();
    let measured = settings.load.run(vault, load::own_cpu).await;
    let bytes = bare::file_bytes(&place.path().join("data")) / measured.records;
    let copy = place.path().join("copy");
    close(Vault::open(self::options(place.path(), Target::Folder(copy.clone()))).await).await;
    let engine = bare::sqlite(&place.path().join("data"), &copy, measured.group, delay);
    report(settings, "sqlite", delay, &measured, bytes, engine);
}

async fn measure_postgres(settings: &Settings, server: &Postgres, delay: Duration) {
    let place = tempfile::tempdir_in(&settings.folder).unwrap();
    let (name, copy) = (
        format!("measured_{}", delay.as_millis()),
        format!("copy_{}", delay.as_millis()),
    );
    for database in [&name, &copy] {
        server.database(database);
        // The server's own way of waiting before it syncs.
        let sql = format!(
            "ALTER DATABASE {database} SET commit_delay = {}",
            delay.as_micros()
        );
        assert!(server.psql("postgres", &sql));
        let sql = format!("ALTER DATABASE {database} SET commit_siblings = 0");
        assert!(server.psql("postgres", &sql));
    }
    let target = Target::Url(server.url(&name));
    let vault = Vault::open(options(place.path(), target)).await.unwrap();
    let measured = settings
        .load
        .run(vault, || {
            load::own_cpu() + load::cpu_below(server.process())
        })
        .await;
    let bytes = bare::database_bytes(&server.url(&name)).await / measured.records;
    let target = Target::Url(server.url(&copy));
    close(Vault::open(options(place.path(), target)).await).await;
    let engine = bare::postgres(&server.url(&name), &server.url(&copy), measured.group).await;
    report(settings, "postgres", delay, &measured, bytes, engine);
}

fn options(place: &Path, target: Target) -> Options {
    Options::new(target, MasterKeySource::File(place.join("data.key")))
}

async fn close(vault: phigate_store::Result<Vault>) {
    vault.unwrap().close(Duration::from_secs(30)).await.unwrap();
}

fn report(
    settings: &Settings,
    engine: &str,
    delay: Duration,
    measured: &Measured,
    bytes: usize,
    engine_rate: f64,
) {
    let small = bare::fsyncs(&settings.folder, settings.load.bytes, delay);
    let group = measured.group;
    let large = bare::fsyncs(&settings.folder, (group * bytes as f64) as usize, delay);
    let ceiling = group * large;
    println!(
        "{engine:<9} {:>3} ms |  {small:>15.0} {large:>8.0} | {:>9.0} {group:>6.0} {ceiling:>9.0} {:>5.0}% | {engine_rate:>8.0} {:>5.0}% \
         | {:>7.2} {:>8.2} | {:>5.0}",
        delay.as_millis(),
        measured.rate,
        measured.rate / ceiling * 100.0,
        measured.rate / engine_rate * 100.0,
        measured.wait_ms(0.5),
        measured.wait_ms(0.99),
        measured.cpu_us,
    );
}

fn read_settings() -> Settings {
    let mut settings = Settings {
        engines: vec!["sqlite".to_owned(), "postgres".to_owned()],
        delays: [0, 5, 10].map(Duration::from_millis).to_vec(),
        folder: PathBuf::from("."),
        load: Load {
            waiting: 256,
            seconds: 5,
            bytes: 1_024,
        },
    };
    let mut words = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        let list = || value.split(',').map(str::to_owned);
        match name.as_str() {
            "--engines" => settings.engines = list().collect(),
            "--delays" => {
                let milliseconds = list().map(|word| word.parse().unwrap());
                settings.delays = milliseconds.map(Duration::from_millis).collect();
            }
            "--folder" => settings.folder = value.into(),
            "--waiting" => settings.load.waiting = value.parse().unwrap(),
            "--seconds" => settings.load.seconds = value.parse().unwrap(),
            "--bytes" => settings.load.bytes = value.parse().unwrap(),
            other => panic!("unknown option {other}"),
        }
    }
    settings
}
