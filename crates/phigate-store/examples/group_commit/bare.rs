//! Baselines for comparison: the disk alone, and the engines with nothing around them.

use futures_util::{SinkExt, TryStreamExt};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio_postgres::NoTls;

/// Tables every decision writes to, each with its columns in SQLite.
const TABLES: [(&str, &str); 4] = [
    // One row each per decision with content.
    (
        "audit_record",
        "number, account, time, id, kind, request, key_id, mode, action, model, types, act, lane, seq, body",
    ),
    ("audit_content", "number, account, time, original, sent"),
    (
        "audit_chain",
        "account, lane, seq, record, time, leaf, digest, mac, signature",
    ),
    ("open_request", "account, request, time, instance"),
];
/// Groups put in by the plain loops; as many as there are, at most this.
const GROUPS: usize = 60;
const LONG_ENOUGH: Duration = Duration::from_secs(2);

/// Number of appends of this size that can be synced per second.
pub(crate) fn fsyncs(folder: &Path, bytes: usize, delay: Duration) -> f64 {
    let mut file = tempfile::tempfile_in(folder).unwrap();
    let block = vec![7; bytes];
    let (started, mut count) = (Instant::now(), 0u32);
    while started.elapsed() < LONG_ENOUGH {
        append(&mut file, &block, delay);
        count += 1;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

fn append(file: &mut File, block: &[u8], delay: Duration) {
    file.write_all(block).unwrap();
    file.sync_data().unwrap();
    if !delay.is_zero() {
        std::thread::sleep(delay);
    }
}

/// Size of the database in a folder.
pub(crate) fn file_bytes(folder: &Path) -> usize {
    std::fs::metadata(folder.join("phigate.db")).unwrap().len() as usize
}

/// The rows of one store put into another by the plainest loop there is; records per second.
pub(crate) fn sqlite(from: &Path, to: &Path, group: f64, delay: Duration) -> f64 {
    let group = group.round() as usize;
    let groups = read_sqlite(from, group);
    let mut connection = Connection::open(to.join("phigate.db")).unwrap();
    connection
        .execute_batch("PRAGMA synchronous = full; PRAGMA secure_delete = on")
        .unwrap();
    let started = Instant::now();
    for tables in &groups {
        let transaction = connection.transaction().unwrap();
        for ((table, columns), rows) in TABLES.iter().zip(tables) {
            let places = vec!["?"; columns.split(", ").count()].join(", ");
            let sql = format!("INSERT INTO {table} ({columns}) VALUES ({places})");
            let mut statement = transaction.prepare_cached(&sql).unwrap();
            for row in rows {
                statement.execute(rusqlite::params_from_iter(row)).unwrap();
            }
        }
        transaction.commit().unwrap();
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
    }
    (groups.len() * group) as f64 / started.elapsed().as_secs_f64()
}

/// Rows of each table, in groups. Numbers are moved out of the way of the copy's own first records.
fn read_sqlite(from: &Path, group: usize) -> Vec<Vec<Vec<Vec<Value>>>> {
    let connection = Connection::open(from.join("phigate.db")).unwrap();
    let mut groups = vec![Vec::new(); GROUPS];
    for (table, columns) in TABLES {
        let columns = columns.replace("number", "number + 1000000");
        let sql = format!("SELECT {columns} FROM {table} LIMIT {}", GROUPS * group);
        let mut statement = connection.prepare(&sql).unwrap();
        let width = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..width).map(|column| row.get(column)).collect())
            .unwrap()
            .collect::<rusqlite::Result<Vec<Vec<Value>>>>()
            .unwrap();
        for (number, rows) in rows.chunks_exact(group).enumerate() {
            groups[number].push(rows.to_vec());
        }
    }
    groups.retain(|tables| tables.len() == TABLES.len());
    groups
}

/// Size of a database.
pub(crate) async fn database_bytes(url: &str) -> usize {
    let client = connect(url).await;
    let sql = "SELECT pg_database_size(current_database())";
    let bytes: i64 = client.query_one(sql, &[]).await.unwrap().get(0);
    bytes as usize
}

/// Rows per second of plain PostgreSQL, by its fastest way in, `COPY`.
pub(crate) async fn postgres(from: &str, to: &str, group: f64) -> f64 {
    let group = group.round() as usize;
    let groups = read_postgres(&connect(from).await, group).await;
    let client = connect(to).await;
    let started = Instant::now();
    for tables in &groups {
        client.batch_execute("BEGIN").await.unwrap();
        for ((table, _), rows) in TABLES.iter().zip(tables) {
            let sql = format!("COPY {table} FROM STDIN BINARY");
            let mut sink = pin!(client.copy_in::<_, bytes::Bytes>(&sql).await.unwrap());
            sink.send(rows.clone()).await.unwrap();
            sink.close().await.unwrap();
        }
        client.batch_execute("COMMIT").await.unwrap();
    }
    (groups.len() * group) as f64 / started.elapsed().as_secs_f64()
}

async fn read_postgres(client: &tokio_postgres::Client, group: usize) -> Vec<Vec<bytes::Bytes>> {
    let count = client
        .query_one("SELECT count(*) FROM audit_content", &[])
        .await
        .unwrap();
    let whole = count.get::<_, i64>(0) as usize / group;
    let mut groups = Vec::new();
    for number in 0..whole.min(GROUPS) {
        let mut tables = Vec::new();
        for (table, _) in TABLES {
            // An order without ties, so that no row comes in two groups.
            let order = match table {
                "audit_chain" => "account, lane, seq",
                "open_request" => "account, request",
                "audit_content" => "account, time, record",
                _ => "account, time, id",
            };
            // The first record of the account was written by the copy as well.
            let sql = format!(
                "COPY (SELECT * FROM {table} WHERE account <> '' ORDER BY {order} LIMIT {group} OFFSET {}) TO STDOUT BINARY",
                number * group + 1
            );
            let parts: Vec<bytes::Bytes> = client
                .copy_out(&sql)
                .await
                .unwrap()
                .try_collect()
                .await
                .unwrap();
            tables.push(parts.concat().into());
        }
        groups.push(tables);
    }
    groups
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
