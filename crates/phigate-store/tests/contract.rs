//! What every engine must keep. Each promise is one function; every engine runs all of them.

mod promises;
mod support;

use support::Site;

/// Makes one test per promise and engine.
macro_rules! promises {
    ($($name:ident in $module:ident),* $(,)?) => {
        mod sqlite {
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    promises::$module::$name(Site::sqlite()).await;
                }
            )*
        }
    };
}

promises! {
    a_first_start_makes_everything_and_a_second_finds_it in opening,
    a_key_admits_until_it_is_revoked_or_expires in keys,
    a_decision_is_there_when_it_is_acknowledged in records,
}
