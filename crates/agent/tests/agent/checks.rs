//! Checks of the node.

use serde_json::json;
use stoker_engine::session::{
    CheckItem, CheckOutcome, CheckReport, CheckRequest, FromAgent, ResultKind, ToAgent,
};
use stoker_model::{HostDifference, Json};
use stoker_testkit::TempFolder;

use super::rig::{Rig, key, settings, shell};

fn request(items: &[(&str, Json)]) -> CheckRequest {
    let item = |(task_type, parameters): &(&str, Json)| CheckItem {
        task_type: (*task_type).to_owned(),
        parameters: parameters.clone(),
    };
    CheckRequest {
        id: "a/1".to_owned(),
        node: "1".to_owned(),
        timeout_ms: 20_000,
        items: items.iter().map(item).collect(),
        secrets: vec!["hunter2".to_owned()],
    }
}

async fn checked(rig: &mut Rig) -> CheckReport {
    loop {
        if let FromAgent::Checked(report) = rig.next().await {
            return report;
        }
    }
}

#[tokio::test]
async fn a_check_reports_differences_and_changes_nothing() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    let (file, missing) = (folder.file("f"), folder.file("missing/f"));
    std::fs::write(&file, "password=hunter2\n").unwrap();
    let items = [
        ("file", json!({"path": file, "content": "password=hunter2\n"})),
        ("file", json!({"path": file, "content": "password=other\n"})),
        ("line", json!({"path": missing, "line": "a"})),
        ("shell", json!({"cmd": format!("touch {}", folder.file("touched").display())})),
        ("unheard_of", json!({})),
    ];
    rig.send(ToAgent::Check(request(&items))).await;
    let report = checked(&mut rig).await;
    assert_eq!(report.id, "a/1");
    let [same, differs, failed, no_state, unknown] = &report.results[..] else { panic!("{report:?}") };
    assert_eq!(*same, CheckOutcome::Compared { diff: vec![] });
    let CheckOutcome::Compared { diff } = differs else { panic!("{differs:?}") };
    let subject = file.display().to_string();
    let expected = "@@ -1 +1 @@\n-password=***\n+password=other\n".to_owned();
    assert_eq!(*diff, [HostDifference::text(subject, "content", expected)]);
    for (result, part) in [
        (failed, "missing/f"),
        (no_state, "the task type `shell` describes no state"),
        (unknown, "does not support the task type `unheard_of`"),
    ] {
        let CheckOutcome::Failed { message } = result else { panic!("{result:?}") };
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "password=hunter2\n");
    assert!(!folder.file("touched").exists() && !folder.file("missing").exists());
    rig.stop().await;
}

#[tokio::test]
async fn a_check_ends_in_time_and_does_not_delay_attempts() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    let directory = || ("directory", json!({"path": folder.file("d")}));
    let late = CheckRequest { timeout_ms: 0, ..request(&[directory(), directory()]) };
    for _ in 0..2 {
        rig.send(ToAgent::Check(late.clone())).await;
    }
    rig.begin(shell(1, "true")).await;
    let (mut n_reports, mut is_finished) = (0, false);
    while n_reports < 2 || !is_finished {
        match rig.next().await {
            FromAgent::Checked(report) => {
                let late = CheckOutcome::Failed { message: "not compared within 0 seconds".to_owned() };
                assert_eq!(report.results, [late.clone(), late]);
                n_reports += 1;
            }
            FromAgent::Finished(finished) if finished.key == key(1) => {
                assert_eq!(finished.end, ResultKind::Succeeded);
                is_finished = true;
            }
            _ => {}
        }
    }
    rig.stop().await;
}
