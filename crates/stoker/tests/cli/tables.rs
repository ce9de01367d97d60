//! Tables at the widths of small and large terminals.

use std::fmt::Write as _;

use crate::fixture::CliFixture;

#[test]
fn tables_fit_the_terminal() {
    let cli = CliFixture::with_cluster();
    cli.run("node update 2 --label rack=north-7 --label purpose=the_front_of_the_shop --name a-node-with-a-long-name").ok();
    cli.run("graph upload --env 1 --type default --file {examples}/demo/cluster-graph.yaml").ok();
    let lines = ["node list", "graph show --env 1", "role list --env 1", "release list", "env list"];
    for columns in [80_u16, 160] {
        let mut output = String::new();
        for line in lines {
            let table = cli.at_width(line, columns);
            let is_narrow = |line: &str| line.chars().count() <= usize::from(columns);
            assert!(table.lines().output(is_narrow), "{line} at {columns}:\n{table}");
            _ = write!(output, "$ stoker {line}\n{table}\n");
        }
        insta::assert_snapshot!(format!("tables-{columns}"), output);
    }
}
