//! Opening a store.

use crate::support::{Site, account, close};

pub async fn a_first_start_makes_everything_and_a_second_finds_it(site: Site) {
    let first = site.open().await;
    assert!(first.was_created());
    assert_eq!(first.find_account(None).await.unwrap().name, "default");
    let id = account(&first).await;
    close(first).await;
    let second = site.open().await;
    assert!(!second.was_created());
    assert_eq!(account(&second).await, id);
    close(second).await;
}
