//! Plugins: records, archives, and synchronization with files.

use std::fs::{self, File};
use std::path::Path;

use crate::support::{Fixture, invalid};
use stoker_model::{Actor, NewPlugin, PluginId};
use stoker_packages::pack;
use stoker_registry::package::{PackageVersion, SkeletonOptions, skeleton};
use stoker_services::ServiceError;
use stoker_services::metadata::embedded_graphs::EmbeddedGraphs;
use stoker_services::plugins::PluginError;
use stoker_services::precondition::Precondition;
use stoker_store::List;

/// Writes the source of a plugin below `folder`.
fn source(folder: &Path, name: &str) {
    for file in skeleton(SkeletonOptions { name, version: PackageVersion::V5, has_wizard: true })
        .expect("the package is written")
    {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().expect("the package is written")).expect("the package is written");
        fs::write(path, file.text).expect("the package is written");
    }
}

fn service_error(error: PluginError) -> ServiceError {
    match error {
        PluginError::Service(error) => error,
        other @ PluginError::Exists(_) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn duplicates_name_the_existing_plugin() {
    let fixture = Fixture::new().await;
    let (plugins, actor) = (fixture.plugins(), Actor::server());
    let new = NewPlugin::new("gridnet", "1.0.0", "5.0.0");
    let first = plugins.create(&actor, &new, EmbeddedGraphs::default()).await.unwrap();
    let again = plugins.create(&actor, &new, EmbeddedGraphs::default()).await.unwrap_err();
    let PluginError::Exists(existing) = again else { panic!("{again:?}") };
    assert_eq!(existing.id, first.id);
}

#[tokio::test]
async fn archives_are_validated_before_anything_is_stored() {
    let fixture = Fixture::new().await;
    let (plugins, actor) = (fixture.plugins(), Actor::server());
    let wrong = fixture.file("wrong.fp");
    fs::write(&wrong, "not an archive").unwrap();
    let error = plugins.install(&actor, File::open(&wrong).unwrap()).await.unwrap_err();
    invalid(service_error(error));
    assert!(fixture.store.read().await.unwrap().plugin_get(PluginId(1)).await.unwrap().is_none());

    let (folder, archive) = (fixture.file("source"), fixture.file("right.fp"));
    source(&folder, "gridnet");
    pack(&folder, "gridnet", &mut File::create(&archive).unwrap()).unwrap();
    let installation = plugins.install(&actor, File::open(&archive).unwrap()).await.unwrap();
    assert!(installation.is_new);
    let plugin = installation.plugin;
    assert_eq!(plugin.body.name, "gridnet");
    let again = plugins.install(&actor, File::open(&archive).unwrap()).await.unwrap_err();
    assert!(matches!(again, PluginError::Exists(_)), "{again:?}");
    assert_eq!(fs::read_dir(&fixture.settings.plugins_root).unwrap().count(), 1);
    plugins.delete(&actor, plugin.id, &Precondition::Any).await.unwrap();
    assert_eq!(fs::read_dir(&fixture.settings.plugins_root).unwrap().count(), 0, "the files are deleted");
}

#[tokio::test]
async fn sync_follows_the_folders_of_the_plugin_root() {
    let fixture = Fixture::new().await;
    let (plugins, actor) = (fixture.plugins(), Actor::server());
    let unknown = plugins.sync(&actor, Some(vec![PluginId(9)])).await.unwrap_err();
    assert!(matches!(service_error(unknown), ServiceError::NotFound(_)));
    let misnamed = fixture.settings.plugins_root.join("misnamed");
    source(&misnamed, "gridnet");
    let report = invalid(service_error(plugins.sync(&actor, None).await.unwrap_err()));
    assert!(report.message.contains("rename the directory to `gridnet-1.0`"), "{report}");

    let folder = fixture.settings.plugins_root.join("gridnet-1.0");
    fs::rename(misnamed, &folder).unwrap();
    plugins.sync(&actor, None).await.unwrap();
    let count =
        async || fixture.store.read().await.unwrap().plugin_list(&List::default()).await.unwrap().total;
    assert_eq!(count().await, 1);
    fs::remove_dir_all(folder).unwrap();
    plugins.sync(&actor, None).await.unwrap();
    assert_eq!(count().await, 0, "plugins without files are deleted");
}
