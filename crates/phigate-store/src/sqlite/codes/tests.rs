//! Lookups through segments find the same as a read of all rows, after any changes to the rows.

use super::*;
use crate::rows::{Batch, LookupRow};
use crate::sqlite::connect::{self, Access, connect};
use crate::sqlite::insert;
use crate::sqlite::segments::Size;

const ACCOUNTS: [&str; 2] = ["clinic", "hospital"];
/// The most requests in one write.
const GROUP: usize = 300;
const SMALL: Size = Size {
    rows: 256,
    codes: 2_000,
};

struct Site {
    _folder: tempfile::TempDir,
    connection: Connection,
    dice: Dice,
    requests: Vec<(&'static str, RowKey, Uuid)>,
}

impl Site {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        connect::prepare(folder.path(), true).unwrap();
        Self {
            connection: connect(folder.path(), Access::Write).unwrap(),
            _folder: folder,
            dice: Dice(seed),
            requests: Vec::new(),
        }
    }

    /// A code. Some occur often, some seldom; codes of tokens have few different bytes.
    fn code(&mut self) -> LookupCode {
        let mut code = [0; 16];
        let (kinds, text) = [(20, false), (5_000, false), (900, true)][self.dice.below(3)];
        let number = self.dice.below(kinds) as u64;
        if text {
            code.copy_from_slice(format!("NAME_{number:0>11}").as_bytes());
        } else {
            let mut dice = Dice(number * 2 + 1);
            code[..8].copy_from_slice(&dice.next().to_le_bytes());
            code[8..].copy_from_slice(&dice.next().to_le_bytes());
        }
        code
    }

    fn row(&mut self, account: &str, request: Uuid, time_us: i64) -> LookupRow {
        let count = if self.dice.below(40) == 0 {
            90
        } else {
            1 + self.dice.below(3)
        };
        LookupRow {
            account: account.to_owned(),
            request,
            time_us,
            codes: (0..count).map(|_| self.code()).collect(),
        }
    }

    fn write(&mut self, lookups: Vec<LookupRow>) {
        let transaction = self.connection.transaction().unwrap();
        let sql = "INSERT INTO audit_record (account, time, id, kind, request, lane, seq, body)
                   VALUES (?1, ?2, ?3, 1, ?3, 1, 1, '')";
        for row in &lookups {
            let values = params![row.account, row.time_us, row.request.as_bytes()];
            transaction
                .prepare_cached(sql)
                .unwrap()
                .execute(values)
                .unwrap();
        }
        let batch = Batch {
            lookups,
            ..Batch::default()
        };
        insert::beside(&transaction, &batch).unwrap();
        transaction.commit().unwrap();
    }

    fn add_requests(&mut self) {
        let count = self.dice.below(GROUP);
        let mut lookups = Vec::new();
        for _ in 0..count {
            let account = ACCOUNTS[self.dice.below(2)];
            let request = Uuid::from_u64_pair(self.dice.next(), self.dice.next());
            // Times are almost in order.
            let time_us = (self.requests.len() + self.dice.below(200)) as i64;
            lookups.push(self.row(account, request, time_us));
            let key = RowKey {
                record: request,
                time_us,
                lane: 1,
                seq: 1,
            };
            self.requests.push((account, key, request));
        }
        self.write(lookups);
    }

    /// Adds codes to requests that are sorted already.
    fn add_codes(&mut self) {
        for _ in 0..self.dice.below(20) {
            if self.requests.is_empty() {
                return;
            }
            let at = self.dice.below(self.requests.len());
            let (account, key, request) = self.requests[at];
            let row = self.row(account, request, key.time_us);
            self.write(vec![row]);
        }
    }

    /// Deletes the oldest requests, as retention does, or the newest ones.
    fn delete(&mut self, newest: bool) {
        let count = self.dice.below(GROUP).min(self.requests.len());
        let range = if newest {
            self.requests.len() - count..self.requests.len()
        } else {
            0..count
        };
        let gone: Vec<_> = self.requests.drain(range).collect();
        let transaction = self.connection.transaction().unwrap();
        for account in ACCOUNTS {
            let of = gone.iter().filter(|(of, ..)| *of == account);
            let keys: Vec<RowKey> = of.map(|(_, key, _)| *key).collect();
            delete(&transaction, account, &keys).unwrap();
        }
        transaction.commit().unwrap();
    }

    fn delete_account(&mut self) {
        let account = ACCOUNTS[self.dice.below(2)];
        let transaction = self.connection.transaction().unwrap();
        delete_all(&transaction, account).unwrap();
        transaction.commit().unwrap();
        self.requests.retain(|(of, ..)| *of != account);
    }

    fn sort(&mut self) -> usize {
        let most = [1, usize::MAX][self.dice.below(2)];
        let mut sorted = 0;
        while sorted < most && segments::sort_next(&mut self.connection, SMALL).unwrap() {
            sorted += 1;
        }
        sorted
    }

    /// The result of reading all rows.
    fn plainly(&self, account: &str, wanted: &[LookupCode], limit: usize) -> Vec<(Uuid, i64)> {
        let mut found = unsorted(&self.connection, account, wanted, 0).unwrap();
        newest(&mut found, limit);
        let turned = found.into_iter().map(|(time, request)| (request, time));
        turned.collect()
    }

    fn check(&mut self) -> usize {
        let mut found = 0;
        for _ in 0..3 {
            let wanted: Vec<LookupCode> = (0..=self.dice.below(4)).map(|_| self.code()).collect();
            let limit = [1, 10, 100, 100_000][self.dice.below(4)];
            for account in ACCOUNTS {
                let requests = requests_with(&self.connection, account, &wanted, limit).unwrap();
                assert_eq!(requests, self.plainly(account, &wanted, limit));
                found += requests.len();
            }
        }
        found
    }
}

/// A random number generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

#[test]
fn segments_equal_a_full_scan() {
    let (mut sorted, mut found) = (0, 0);
    for seed in 1..=5 {
        let mut site = Site::new(seed);
        for step in 0..100 {
            match site.dice.below(16) {
                0..7 => site.add_requests(),
                7..10 => site.add_codes(),
                10..12 => site.delete(false),
                12 => site.delete(true),
                13 if site.dice.below(4) == 0 => site.delete_account(),
                14 => site.connection.execute_batch("VACUUM").unwrap(),
                _ => sorted += site.sort(),
            }
            found += site.check();
            if step % 10 == 9 {
                assert_eq!(segments::unfindable(&site.connection, None).unwrap(), None);
            }
        }
    }
    assert!(sorted > 100 && found > 20_000, "{sorted} {found}");
}

#[test]
fn reused_row_numbers_are_found_once() {
    let mut site = Site::new(3);
    let common = site.code();
    let write = |site: &mut Site, count: u64, own: u8| {
        let row = |time: u64| LookupRow {
            account: ACCOUNTS[0].to_owned(),
            request: Uuid::from_u64_pair(site.dice.next(), time),
            time_us: time as i64,
            codes: vec![common, [own; 16]],
        };
        let lookups = (0..count).map(row).collect();
        site.write(lookups);
    };
    write(&mut site, 512, 0);
    for (kept, own) in [(300, 1), (200, 2), (0, 3)] {
        while segments::sort_next(&mut site.connection, SMALL).unwrap() {}
        let transaction = site.connection.transaction().unwrap();
        let sql = "DELETE FROM audit_token WHERE number > ?1 RETURNING number";
        let mut statement = transaction.prepare(sql).unwrap();
        let gone = statement
            .query_map([kept as i64], |row| row.get(0))
            .unwrap();
        let gone = gone.map(Result::unwrap).collect();
        drop(statement);
        segments::lose(&transaction, gone).unwrap();
        transaction.commit().unwrap();
        write(&mut site, 400, own);
        for (code, count) in [(common, kept + 400), ([own; 16], 400)] {
            let found = requests_with(&site.connection, ACCOUNTS[0], &[code], 10_000).unwrap();
            assert_eq!(found.len(), count);
            assert_eq!(found, site.plainly(ACCOUNTS[0], &[code], 10_000));
        }
        assert_eq!(segments::unfindable(&site.connection, None).unwrap(), None);
    }
}

#[test]
fn deleted_rows_leave_the_segments() {
    let mut site = Site::new(7);
    while site.requests.len() < 2_000 {
        site.add_requests();
    }
    while segments::sort_next(&mut site.connection, SMALL).unwrap() {}
    let entries = |site: &Site| -> i64 {
        let sql = "SELECT coalesce(sum(length(entries)), 0) / 6 FROM audit_token_sorted";
        let count = site.connection.query_row(sql, [], |row| row.get(0));
        count.unwrap()
    };
    assert!(entries(&site) > 2_000);
    for account in ACCOUNTS {
        let transaction = site.connection.transaction().unwrap();
        delete_all(&transaction, account).unwrap();
        transaction.commit().unwrap();
        while segments::sort_next(&mut site.connection, SMALL).unwrap() {}
        let sql = "SELECT coalesce(sum(length(tokens)), 0) / 16 FROM audit_token
                   WHERE number <= (SELECT max(last) FROM audit_token_segment)";
        let codes = site
            .connection
            .query_row(sql, [], |row| row.get::<_, i64>(0));
        assert_eq!(entries(&site), codes.unwrap());
    }
    assert_eq!(entries(&site), 0);
}
