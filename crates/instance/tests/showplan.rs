//! The documents of SHOWPLAN_XML and STATISTICS XML: well formed, operators numbered from the top,
//! nested as the schema nests them, and what ran told as it was.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod heard;

use heard::Response;
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use session::{Connection as _, Login, Parameter, Procedure, Request, Session};
use std::path::PathBuf;
use std::sync::Arc;
use types::{SqlType, Value};

const SCHEMA: [&str; 5] = [
    "CREATE TABLE dbo.T (k int NOT NULL CONSTRAINT PK_T PRIMARY KEY, v int NOT NULL, \
     pad char(200) NOT NULL)",
    "CREATE INDEX IX_V ON dbo.T (v)",
    "CREATE TABLE dbo.H (a int NOT NULL, b varchar(20) NULL)",
    "CREATE TABLE dbo.C (a int NOT NULL CHECK (a >= 0))",
    "DECLARE @i int = 0; BEGIN TRAN; WHILE @i < 3000 BEGIN \
     INSERT dbo.T VALUES (@i, @i % 100, 'x'); SET @i += 1 END; \
     INSERT dbo.H SELECT k, 'b<\">&' FROM dbo.T WHERE k < 50; COMMIT",
];

/// Statements with the operators that must be in their plans.
const PLANS: [(&str, &[&str]); 19] = [
    ("SELECT k FROM dbo.T WHERE k = 7", &["Clustered Index Seek"]),
    ("SELECT pad FROM dbo.T WHERE v = 7", &["Nested Loops", "Index Seek", "Key Lookup"]),
    ("SELECT b FROM dbo.H WHERE b = 'b<\">&'", &["Table Scan"]),
    ("SELECT T.v FROM dbo.T JOIN dbo.H ON H.b = T.pad", &["Hash Match"]),
    ("SELECT T.v FROM dbo.T INNER MERGE JOIN dbo.H ON H.b = T.pad", &["Merge Join", "Sort"]),
    ("SELECT v, COUNT(*) FROM dbo.T GROUP BY v", &["Stream Aggregate", "Index Scan"]),
    ("SELECT a FROM dbo.H ORDER BY b", &["Sort", "Table Scan"]),
    ("SELECT TOP 3 a FROM dbo.H ORDER BY b DESC", &["Sort"]),
    ("SELECT ROW_NUMBER() OVER (ORDER BY b) FROM dbo.H", &["Sequence Project", "Segment"]),
    ("SELECT SUM(a) OVER (PARTITION BY b) FROM dbo.H", &["Window Aggregate"]),
    ("SELECT a FROM dbo.H UNION ALL SELECT 1 UNION ALL SELECT 2", &["Concatenation"]),
    (
        "SELECT CASE WHEN a IN (1, 2) THEN 'x' WHEN b LIKE 'b[<]%' THEN b END, \
         (SELECT MAX(v) FROM dbo.T WHERE k = a) FROM dbo.H WHERE NOT (a = 3 OR b IS NULL)",
        &["Compute Scalar", "Stream Aggregate"],
    ),
    ("UPDATE dbo.H SET b = b + '!' WHERE a < 3", &["Table Update", "Table Scan"]),
    ("DELETE dbo.T WHERE k > 2990", &["Clustered Index Delete", "Clustered Index Seek"]),
    ("INSERT dbo.H (a) SELECT a FROM dbo.H", &["Table Insert", "Table Spool"]),
    (
        "WITH r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 10) SELECT a FROM r",
        &["Index Spool", "Concatenation", "Nested Loops", "Table Spool"],
    ),
    (
        "UPDATE dbo.T SET v = v + 1 OPTION (QUERYTRACEON 8790)",
        &["Sequence", "Table Spool", "Clustered Index Update", "Index Update", "Sort", "Split"],
    ),
    (
        "SELECT a, (SELECT b FROM dbo.H i WHERE i.a = H.a + 99) FROM dbo.H",
        &["Assert", "Index Spool"],
    ),
    ("INSERT dbo.C SELECT a FROM dbo.H", &["Assert", "Table Insert"]),
];

/// What may stand in an element, in this order. Told from the
/// public schema.
const CONTENT: [(&str, &[&str]); 39] = [
    ("ShowPlanXML", &["BatchSequence"]),
    ("BatchSequence", &["Batch"]),
    ("Batch", &["Statements"]),
    ("Statements", &["StmtSimple|StmtCond|StmtUseDb"]),
    ("StmtSimple", &["StatementSetOptions", "QueryPlan"]),
    ("StmtCond", &["StatementSetOptions", "Condition", "Then", "Else"]),
    (
        "QueryPlan",
        &[
            "InternalInfo",
            "Warnings",
            "MemoryGrantInfo",
            "WaitStats",
            "QueryTimeStats",
            "RelOp",
            "ParameterList",
        ],
    ),
    ("WaitStats", &["Wait"]),
    ("RelOp", &["OutputList", "Warnings", "RunTimeInformation", "InternalInfo", ANY_OPERATOR]),
    (
        "Warnings",
        &[
            "ColumnsWithNoStatistics",
            "SpillToTempDb",
            "PlanAffectingConvert",
            "SortSpillDetails|HashSpillDetails",
            "MemoryGrantWarning",
        ],
    ),
    ("RunTimeInformation", &["RunTimeCountersPerThread"]),
    ("IndexScan", &["DefinedValues", "Object", "SeekPredicates", "Predicate"]),
    ("TableScan", &["DefinedValues", "Object", "Predicate"]),
    ("TableValuedFunction", &["DefinedValues", "Object", "Predicate", "ParameterList"]),
    ("SeekPredicates", &["SeekPredicateNew"]),
    ("SeekPredicateNew", &["SeekKeys"]),
    ("SeekKeys", &["Prefix", "StartRange", "EndRange", "IsNotNull"]),
    ("Prefix", &["RangeColumns", "RangeExpressions"]),
    ("StartRange", &["RangeColumns", "RangeExpressions"]),
    ("NestedLoops", &["Predicate", "OuterReferences", "RelOp"]),
    ("Hash", &["DefinedValues", "HashKeysBuild", "HashKeysProbe", "ProbeResidual", "RelOp"]),
    (
        "Merge",
        &["DefinedValues", "InnerSideJoinColumns", "OuterSideJoinColumns", "Residual", "RelOp"],
    ),
    ("StreamAggregate", &["DefinedValues", "GroupBy", "RelOp"]),
    ("ComputeScalar", &["DefinedValues", "RelOp"]),
    ("SequenceProject", &["DefinedValues", "RelOp"]),
    ("WindowAggregate", &["DefinedValues", "RelOp"]),
    ("Segment", &["GroupBy", "SegmentColumn", "RelOp"]),
    ("Sort", &["OrderBy", "RelOp"]),
    ("TopSort", &["OrderBy", "RelOp"]),
    ("Top", &["TieColumns", "OffsetExpression", "TopExpression", "RelOp"]),
    ("Filter", &["RelOp", "Predicate"]),
    ("Concat", &["DefinedValues", "RelOp"]),
    ("Assert", &["RelOp", "Predicate"]),
    ("Spool", &["SeekPredicate", "RelOp"]),
    ("Split", &["ActionColumn", "RelOp"]),
    ("SeekPredicate", &["Prefix", "StartRange", "EndRange"]),
    ("Update", &["Object", "SetPredicate", "ActionColumn", "RelOp"]),
    ("Subquery", &["ScalarOperator", "RelOp"]),
    ("DefinedValue", &["ColumnReference", "ScalarOperator"]),
];
const ANY_OPERATOR: &str = "IndexScan|TableScan|TableValuedFunction|NestedLoops|Hash|Merge|Sort|\
    TopSort|Top|StreamAggregate|ComputeScalar|SequenceProject|WindowAggregate|Segment|Filter|Concat|\
    ConstantScan|Spool|Update|Assert|Split|Sequence";
/// What the schema requires of every operator.
const REQUIRED: [&str; 11] = [
    "NodeId",
    "PhysicalOp",
    "LogicalOp",
    "EstimateRows",
    "EstimateIO",
    "EstimateCPU",
    "AvgRowSize",
    "EstimatedTotalSubtreeCost",
    "Parallel",
    "EstimateRebinds",
    "EstimateRewinds",
];

/// An element.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| &**v)
    }

    fn number(&self, name: &str) -> u64 {
        self.get(name).unwrap_or_else(|| panic!("{name} of {self:?}")).parse().unwrap()
    }

    fn all<'e>(&'e self, name: &str, found: &mut Vec<&'e Element>) {
        if self.name == name {
            found.push(self);
        }
        self.children.iter().for_each(|c| c.all(name, found));
    }

    fn named(&self, name: &str) -> Vec<&Element> {
        let mut found = Vec::new();
        self.all(name, &mut found);
        found
    }

    fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.name == name)
    }

    /// The counters of an operator.
    fn ran(&self) -> &Element {
        let information = self.child("RunTimeInformation").expect("it ran");
        information.child("RunTimeCountersPerThread").expect("a thread's counters")
    }
}

/// Reads a document of elements and attributes alone; panics where it is not well formed.
fn parse(text: &str) -> Element {
    let mut open: Vec<Element> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.strip_prefix('<').unwrap_or_else(|| panic!("text between elements: {rest}"));
        let end = rest.find('>').expect("a tag ends");
        let (tag, after) = rest.split_at(end);
        rest = &after[1..];
        let finished = match tag.strip_prefix('/') {
            Some(name) => {
                let element = open.pop().expect("an end tag has its begin");
                assert_eq!(element.name, name);
                element
            }
            None => {
                let empty = tag.ends_with('/');
                open.push(begun(tag.trim_end_matches('/')));
                match empty {
                    true => open.pop().unwrap(),
                    false => continue,
                }
            }
        };
        match open.last_mut() {
            Some(parent) => parent.children.push(finished),
            None => {
                assert!(rest.is_empty(), "one element contains all: {rest}");
                return finished;
            }
        }
    }
}

fn begun(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.is_empty() {
        let (attribute, after) = rest.split_once("=\"").expect("an attribute has a value");
        let (value, after) = after.split_once('"').expect("a value ends");
        assert!(!value.contains('<'), "escaped: {value}");
        let twice = attributes.iter().any(|(n, _)| n == attribute);
        assert!(!twice, "{attribute} twice in {tag}");
        let value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        attributes.push((attribute.to_owned(), value.replace("&amp;", "&")));
        rest = after.trim_start();
    }
    Element { name: name.to_owned(), attributes, children: Vec::new() }
}

struct ServedInstance {
    folder: PathBuf,
    instance: Arc<Instance>,
}

impl ServedInstance {
    fn open(name: &str) -> (ServedInstance, Session) {
        let folder = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
        let options = InstanceOptions { max_memory_bytes: 96 << 20, ..InstanceOptions::default() };
        let instance = Instance::open(Arc::new(RealDisk), &folder, options).unwrap();
        let mut session = instance.connect(Login::default()).unwrap();
        for statement in SCHEMA {
            run(&mut session, statement);
        }
        (ServedInstance { folder, instance }, session)
    }
}

impl Drop for ServedInstance {
    fn drop(&mut self) {
        let _ = self.instance.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn run(session: &mut Session, text: &str) -> Response {
    let heard = Response::ask(session, text);
    assert!(heard.error().is_none() && heard.goes_on, "{text}: {:?}", heard.error());
    heard
}

/// The document that comes last, and the rows before it.
fn document(session: &mut Session, text: &str) -> (Element, usize) {
    let heard = run(session, text);
    let last = heard.rows.last().expect("a plan").first().unwrap().as_text().unwrap();
    (parse(&last), heard.rows.len() - 1)
}

/// Every element's children are those the schema has there, in its order.
fn check_content(element: &Element) {
    if let Some((_, content)) = CONTENT.iter().find(|(name, _)| *name == element.name) {
        let mut at = 0;
        for child in &element.children {
            let stands = |kinds: &&str| kinds.split('|').any(|kind| kind == child.name);
            let found = content[at..].iter().position(stands);
            at += found.unwrap_or_else(|| panic!("{} in {element:?}", child.name));
        }
    }
    if element.name == "RelOp" {
        for name in REQUIRED {
            assert!(element.get(name).is_some(), "{name} of {element:?}");
        }
    }
    if element.name == "Spool" {
        let inputs = element.children.iter().filter(|c| c.name == "RelOp").count();
        assert!(inputs <= 1, "{element:?}");
    }
    if element.name == "ScalarOperator" {
        assert_eq!(element.children.len(), 1, "{element:?}");
    }
    element.children.iter().for_each(check_content);
}

/// Numbers go up from 0 in the order of the document, but for subqueries, whose operators stand
/// where they are run and count behind all others.
fn check_numbers(root: &Element) {
    check_content(root);
    let relops = root.named("RelOp");
    let mut ids: Vec<u64> = relops.iter().map(|r| r.number("NodeId")).collect();
    if root.named("Subquery").is_empty() {
        assert!(ids.is_sorted(), "{ids:?}");
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..ids.len() as u64).collect::<Vec<_>>());
    for relop in relops {
        assert_eq!(relop.children.first().map(|c| &*c.name), Some("OutputList"));
        let operators = relop
            .children
            .iter()
            .filter(|c| !["OutputList", "Warnings", "RunTimeInformation"].contains(&&*c.name));
        assert_eq!(operators.count(), 1, "{relop:?}");
    }
}

#[test]
fn documents_are_well_formed_and_nothing_runs() {
    let (_served, mut session) = ServedInstance::open("showplan");
    run(&mut session, "SET SHOWPLAN_XML ON");
    for (text, operators) in PLANS {
        let (root, rows_before) = document(&mut session, text);
        assert_eq!((&*root.name, rows_before), ("ShowPlanXML", 0));
        let statement = root.named("StmtSimple")[0];
        assert_eq!(statement.get("StatementText"), Some(text));
        check_numbers(&root);
        let names: Vec<&str> =
            root.named("RelOp").iter().filter_map(|r| r.get("PhysicalOp")).collect();
        for operator in operators {
            assert!(names.contains(operator), "{text}: {names:?}");
        }
        assert!(root.named("RunTimeInformation").is_empty());
    }
    let (root, _) = document(
        &mut session,
        "IF EXISTS (SELECT * FROM dbo.H) BEGIN DELETE dbo.H; DROP TABLE dbo.H END ELSE \
         WHILE 1 = 1 BREAK; SELECT 1",
    );
    let block = root.named("Statements")[0];
    let names: Vec<&str> = block.children.iter().map(|c| &*c.name).collect();
    assert_eq!(names, ["StmtCond", "StmtSimple"]);
    let condition = &block.children[0];
    assert_eq!(condition.child("Then").unwrap().children[0].children.len(), 2);
    assert_eq!(condition.child("Else").unwrap().children[0].children[0].name, "StmtCond");
    run(&mut session, "SET SHOWPLAN_XML OFF");
    let count = run(&mut session, "SELECT COUNT(*) FROM dbo.T; SELECT COUNT(*) FROM dbo.H");
    assert_eq!(
        count.rows.concat().iter().map(|v| v.as_i64()).collect::<Vec<_>>(),
        [Some(3000), Some(50)]
    );
}

#[test]
fn what_ran_is_told() {
    let (_served, mut session) = ServedInstance::open("statistics-xml");
    run(&mut session, "SET STATISTICS XML ON");
    for (text, _) in PLANS {
        let (root, rows) = document(&mut session, text);
        check_numbers(&root);
        let top = root.named("RelOp")[0];
        if text.starts_with("SELECT") {
            assert_eq!(top.ran().number("ActualRows"), rows as u64, "{text}");
        }
        for relop in root.named("RelOp") {
            // Each row of an index is looked up once.
            if relop.get("PhysicalOp") == Some("Nested Loops")
                && let [outer, inner] = relop.named("RelOp")[1..]
                && inner.get("PhysicalOp") == Some("Key Lookup")
            {
                let rows = outer.ran().number("ActualRows");
                assert_eq!(inner.ran().number("ActualExecutions"), rows, "{text}");
                assert!(inner.ran().number("ActualLogicalReads") >= rows, "{text}");
            }
        }
    }
    let (root, _) = document(&mut session, "UPDATE dbo.T SET pad = 'y' WHERE k < 10");
    assert_eq!(root.named("RelOp")[0].ran().number("ActualRows"), 10);
    assert!(root.named("MemoryGrantInfo").is_empty());
    let sort = "SELECT k FROM dbo.T ORDER BY pad, v DESC OPTION (MAX_GRANT_PERCENT = 0.01)";
    let (root, rows) = document(&mut session, sort);
    assert!(rows > 2900);
    let spilled = root.named("SpillToTempDb");
    assert_eq!(spilled.len(), 1, "{root:?}");
    assert_eq!(root.named("MemoryGrantInfo").len(), 1);
    let granted = root.named("MemoryGrantInfo")[0].get("GrantedMemory");
    assert_eq!(root.named("QueryPlan")[0].get("MemoryGrant"), granted);
}

/// An operator's time is that of what is below it, too, and waits are no processor time.
#[test]
fn operators_are_timed() {
    let (served, mut session) = ServedInstance::open("statistics-times");
    run(&mut session, "SET STATISTICS XML ON");
    let long = "SELECT COUNT(*) FROM dbo.T a CROSS JOIN dbo.H b CROSS JOIN dbo.H c WHERE a.k < 400";
    let (root, _) = document(&mut session, long);
    let took = root.named("QueryTimeStats")[0];
    assert!(took.number("ElapsedTime") > 0);
    let relops = root.named("RelOp");
    let of = |n: usize| relops[n].ran().number("ActualElapsedms");
    assert!(of(0) > 0 && of(0) <= took.number("ElapsedTime"));
    (1..relops.len()).for_each(|n| assert!(of(n) <= of(0), "{n}"));
    let scan = relops.last().unwrap().ran();
    assert_eq!(scan.number("ActualRowsRead"), scan.number("ActualRows"));

    // A row that is locked is waited for.
    let mut other = served.instance.connect(Login::default()).unwrap();
    run(&mut other, "BEGIN TRAN; UPDATE dbo.T SET v = v WHERE k = 5");
    let (root, _) = std::thread::scope(|scope| {
        let waits = scope.spawn(|| document(&mut session, "SELECT v FROM dbo.T WHERE k = 5"));
        os::task::sleep_ns(100_000_000);
        run(&mut other, "ROLLBACK");
        waits.join().unwrap()
    });
    let wait = root.named("Wait")[0];
    assert_eq!(wait.get("WaitType"), Some("LCK_M_S"));
    let (waited, seek) = (wait.number("WaitTimeMs"), root.named("RelOp")[0].ran());
    assert!(seek.number("ActualElapsedms") >= waited, "{root:?}");
    assert!(seek.number("ActualCPUms") <= seek.number("ActualElapsedms") - waited);
}

/// The column, type, compiled and runtime value of each parameter of a document.
fn parameters(root: &Element) -> Vec<[String; 4]> {
    let of = |p: &Element| {
        let part = |name: &str| p.get(name).unwrap_or("-").to_owned();
        let values = ["ParameterCompiledValue", "ParameterRuntimeValue"].map(part);
        let [compiled, runtime] = values;
        [part("Column"), part("ParameterDataType"), compiled, runtime]
    };
    let list = root.named("QueryPlan")[0].child("ParameterList");
    list.iter().flat_map(|l| &l.children).map(of).collect()
}

/// A plan says for which values it was made, and with which it ran; nothing that nobody knows.
#[test]
fn parameters_are_told() {
    let (_served, mut session) = ServedInstance::open("showplan-parameters");
    run(
        &mut session,
        "CREATE PROCEDURE dbo.P @k int, @b varchar(20) = 'x' AS SELECT a FROM dbo.H WHERE a = @k AND b <> @b",
    );
    run(&mut session, "SET STATISTICS XML ON");
    let mut told = |text: &str| parameters(&document(&mut session, text).0);
    let of_call = |compiled: &str, runtime: &str| {
        let k = ["@k", "int", compiled, runtime];
        [["@b", "varchar(20)", "'x'", "'x'"], k].map(|p| p.map(str::to_owned))
    };
    assert_eq!(told("EXEC dbo.P 7"), of_call("(7)", "(7)"));
    assert_eq!(told("EXEC dbo.P 8"), of_call("(7)", "(8)"));
    let text = "EXEC sp_executesql N'SELECT a FROM dbo.H WHERE a = @n', N'@n nvarchar(5)', N'9'";
    assert_eq!(told(text), [["@n", "nvarchar(5)", "N'9'", "N'9'"]]);
    let text = "DECLARE @x binary(2) = 0x01FF, @i int = 3; \
        SELECT a FROM dbo.H WHERE a = @i AND b <> CAST(@x AS varchar(9))";
    assert_eq!(told(text), [["@i", "int", "-", "(3)"], ["@x", "binary(2)", "-", "0x01FF"]]);
    let text =
        "DECLARE @i int = 3; SELECT a FROM dbo.H WHERE a = @i OPTION (OPTIMIZE FOR (@i = 4))";
    assert_eq!(told(text), [["@i", "int", "(4)", "(3)"]]);
    let text = "DECLARE @i int = 3; SELECT @i = a FROM dbo.H WHERE a = @i";
    assert_eq!(told(text), [["@i", "int", "-", "-"]], "what it was is no longer known");
    assert_eq!(told("SELECT a FROM dbo.H WHERE a > 100"), [[""; 4]; 0]);
    run(&mut session, "SET STATISTICS XML OFF");
    run(&mut session, "SET SHOWPLAN_XML ON");
    let (root, _) = document(&mut session, "DECLARE @i int = 3; SELECT a FROM dbo.H WHERE a = @i");
    assert_eq!(root.named("ParameterList").len(), 1);
    assert_eq!(root.named("ParameterList")[0].children[0].get("ParameterCompiledValue"), None);
}

/// What is wrong with a plan stands with the whole, or with the operator.
#[test]
fn warnings_are_told() {
    let (_served, mut session) = ServedInstance::open("showplan-warnings");
    run(&mut session, "SET SHOWPLAN_XML ON");
    let mut told = |text: &str| document(&mut session, text).0;
    let text = "SELECT T.k FROM dbo.T CROSS JOIN dbo.H";
    let root = told(text);
    assert_eq!(root.named("Warnings")[0].get("NoJoinPredicate"), Some("true"));
    assert!(root.named("QueryPlan")[0].child("Warnings").is_none());
    assert!(told("SELECT T.k FROM dbo.T JOIN dbo.H ON a > k").named("Warnings").is_empty());
    assert!(told("SELECT a FROM dbo.H WHERE CAST(b AS int) = 1").named("Warnings").is_empty());
    let root = told("SELECT a FROM dbo.H WHERE b = 1");
    let convert = "CONVERT_IMPLICIT(int,[master].[dbo].[H].[b],0)";
    let issues = |root: &Element| -> Vec<(String, String)> {
        let part = |e: &Element, name: &str| e.get(name).unwrap().to_owned();
        let of = |e: &&Element| (part(e, "ConvertIssue"), part(e, "Expression"));
        root.named("QueryPlan")[0].named("PlanAffectingConvert").iter().map(of).collect()
    };
    assert_eq!(issues(&root), [("Cardinality Estimate".to_owned(), convert.to_owned())]);
    assert_eq!(root.named("Convert")[0].get("Implicit"), Some("true"));
    let root = told("SELECT pad FROM dbo.T WHERE pad = 1");
    assert_eq!(issues(&root).len(), 1);
    drop(root);
    run(&mut session, "SET SHOWPLAN_XML OFF");
    run(&mut session, "CREATE INDEX IX_B ON dbo.H (b)");
    run(&mut session, "SET SHOWPLAN_XML ON");
    let (root, _) = document(&mut session, "SELECT a FROM dbo.H WHERE b = 1");
    let seek = ("Seek Plan".to_owned(), format!("{convert}=(1)"));
    assert_eq!(issues(&root), [("Cardinality Estimate".to_owned(), convert.to_owned()), seek]);
}

/// What a driver sends: text with parameters, as a call.
#[test]
fn a_call_is_shown_instead_of_run() {
    let (_served, mut session) = ServedInstance::open("showplan-call");
    run(&mut session, "SET SHOWPLAN_XML ON");
    let parameter = |name: &str, sql_type, value| Parameter {
        name: name.to_owned(),
        sql_type,
        value,
        output: false,
        default: false,
        table: None,
    };
    let text = "DELETE dbo.T WHERE k = @k; IF @k > 1 DELETE dbo.H";
    let request = Request::Call {
        procedure: Procedure::Numbered(10),
        parameters: vec![
            parameter("", SqlType::NVARCHAR_MAX, Value::nvarchar(text)),
            parameter("", SqlType::NVARCHAR_MAX, Value::nvarchar("@k int")),
            parameter("@k", SqlType::Int, Value::Int(7)),
        ],
        more: false,
    };
    let mut heard = Response::default();
    assert!(session.run(request, &mut heard));
    assert!(heard.error().is_none(), "{:?}", heard.error());
    let root = parse(&heard.rows[0][0].as_text().unwrap());
    let seek = root.named("RangeExpressions")[0];
    assert_eq!(seek.named("ColumnReference")[0].get("Column"), Some("@k"));
    assert_eq!(root.named("Update").len(), 2);
    run(&mut session, "SET SHOWPLAN_XML OFF");
    let count = run(&mut session, "SELECT COUNT(*) FROM dbo.T WHERE k = 7");
    assert_eq!(count.rows[0][0].as_i64(), Some(1));
}
