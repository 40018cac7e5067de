//! Reading a table: which path, what it fetches, which conditions it tests where.

use crate::convert::Optimizer;
use crate::estimate::VIEW_ROWS;
use crate::node::{Node, Reader, Slots, Wish};
use crate::path::{Offer, Part, Path};
use crate::sarg;
use base::{SqlError, SqlResult, messages};
use catalog::view::{HobtLayout, Object, PhysicalColumn, Table};
use plan::{
    Access, CompareOp, Constants, Filter, Get, KeyLookup, PageSample, Physical, Predicate, Sample,
    SampleSize, Scalar, ScanColumn, Slot, Source, VirtualGet, VirtualScan,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::SqlType;

/// Parts of an OR that are sought one by one.
pub(crate) const PARTS_MAX: usize = 32;

/// What leads to a row: the slots of its place's parts, and their types.
pub(crate) type Locator = (Vec<Slot>, Vec<SqlType>);

/// A table reference on its way to an access path.
pub(crate) struct Reference<'g> {
    pub(crate) get: &'g Get,
    pub(crate) table: Arc<Table>,
    /// Slots of the columns that are read, by ordinal.
    pub(crate) columns: BTreeMap<usize, Slot>,
    /// Those of them that somebody reads beyond `conditions`.
    pub(crate) wanted: BTreeSet<usize>,
    pub(crate) conditions: Vec<Predicate>,
    /// Conditions that run subqueries, which are tested above; a seek may run them too.
    pub(crate) above: Vec<Predicate>,
}

impl Reference<'_> {
    /// Positions of the conditions whose columns an index has.
    pub(crate) fn decided_by(&self, layout: &HobtLayout, hidden: &Slots) -> Vec<usize> {
        let absent = |s: &Slot| {
            let column = self.columns.iter().find(|(_, slot)| *slot == s);
            let outside =
                |(c, _): (&usize, &Slot)| layout.position(PhysicalColumn::Column(*c)).is_none();
            column.map_or_else(|| hidden.contains(s), outside)
        };
        let here = |p: &Predicate| !p.reads().slots.iter().any(absent);
        (0..self.conditions.len()).filter(|&n| here(&self.conditions[n])).collect()
    }

    /// Slots of a row's place, which no index can judge.
    pub(crate) fn hidden(&self) -> Slots {
        locator(self.get).collect()
    }

    /// What an index keeps to find a row.
    pub(crate) fn locator_parts(&self) -> Vec<PhysicalColumn> {
        let base = self.table.hobt_layout(self.table.base());
        match self.table.base().kind.is_heap() {
            true => vec![PhysicalColumn::Rid],
            false => base.key.iter().map(|k| base.columns[k.field]).collect(),
        }
    }

    /// The conditions that can be sought, those above behind the others.
    pub(crate) fn sargs(&self, reader: Reader<'_>) -> Vec<(usize, sarg::Sarg)> {
        // What is drawn for a seek must not be drawn again for the test above.
        let above = self.conditions.len();
        let all = self.conditions.iter().chain(&self.above).enumerate();
        self.sought(reader, all.filter(|(n, p)| *n < above || !p.reads().drawn).collect())
    }

    /// ORs that are no lists of values, with parts all of which have something to seek.
    pub(crate) fn ors(&self, reader: Reader<'_>) -> Vec<(usize, Vec<Part>)> {
        let from = self.conditions.len() + self.above.len();
        let part = |p: &Predicate| {
            let conditions = p.clone().conjuncts();
            let all = conditions.iter().enumerate().map(|(n, p)| (from + n, p));
            let sargs = self.sought(reader, all.collect());
            (!sargs.is_empty()).then_some(Part { conditions, sargs })
        };
        let of = |(n, p): (usize, &Predicate)| {
            let parts = alternatives(p).filter(|parts| parts.len() <= PARTS_MAX)?;
            let whole = self.sought(reader, vec![(n, p)]);
            let parts = whole.is_empty().then(|| parts.iter().map(part).collect());
            let parts: Option<Vec<Part>> = parts?;
            Some((n, parts.filter(|parts| !parts.is_empty())?))
        };
        // Parts may be tested besides where they are sought.
        let all = self.conditions.iter().enumerate().filter(|(_, p)| !p.reads().drawn);
        all.filter_map(of).collect()
    }

    fn sought(
        &self,
        reader: Reader<'_>,
        all: Vec<(usize, &Predicate)>,
    ) -> Vec<(usize, sarg::Sarg)> {
        let own: Slots = self.columns.values().copied().collect();
        let by_slot: BTreeMap<Slot, usize> = self.columns.iter().map(|(&c, &s)| (s, c)).collect();
        let column_type = |slot: Slot| {
            let column = &self.table.columns[*by_slot.get(&slot)?];
            Some((column.sql_type, column.collation))
        };
        let sought = sarg::SeekTarget { own: &own, column_type: &column_type, reader };
        all.into_iter().filter_map(|(n, p)| sought.of(p).map(|s| (n, s))).collect()
    }

    /// A condition asks for NULL where none can be.
    fn is_empty(&self) -> bool {
        let never = |p: &Predicate| {
            let Predicate::IsNull(x) = p else { return false };
            let column = self.columns.iter().find(|(_, slot)| x.as_column() == Some(**slot));
            column.is_some_and(|(&c, _)| !self.table.columns[c].nullable)
        };
        self.conditions.iter().any(never)
    }
}

impl Optimizer<'_> {
    pub(crate) fn get(
        &mut self,
        get: &Get,
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let Some(Object::Table(table)) = self.references.get(get.table.0 as usize) else {
            return Err(SqlError::new(messages::INTERNAL, &[&"a reference is no table"]));
        };
        let table = Arc::clone(table);
        let (conditions, late) = split_subqueries(filters);
        let mut read = needed.clone();
        late.iter().for_each(|p| read.extend(self.reader().predicate(p)));
        let of = |read: &Slots| {
            let columns = get.columns.iter().filter(|c| read.contains(&c.slot));
            columns.map(|c| (c.column, c.slot)).collect::<BTreeMap<usize, Slot>>()
        };
        let wanted = of(&read).into_keys().collect();
        conditions.iter().for_each(|p| read.extend(self.reader().predicate(p)));
        let columns = of(&read);
        let reference = Reference { get, table, columns, wanted, conditions, above: late.clone() };
        let mut node = self.reach(&reference, wish)?;
        if let Some(sample) = get.sample {
            node.rows *= self.page_sample(&reference.table, sample).fraction;
        }
        Ok(self.with_filter(node, late))
    }

    fn reach(&self, r: &Reference<'_>, wish: Wish<'_>) -> SqlResult<Node> {
        if r.is_empty() {
            return Ok(crate::convert::nothing());
        }
        let own: Slots = r.columns.values().copied().collect();
        let sargs = r.sargs(self.reader());
        let ors = r.ors(self.reader());
        let needed: Vec<usize> = r.columns.keys().copied().collect();
        let slot = |column: usize| r.columns.get(&column).copied();
        let hidden = r.hidden();
        let decided = |layout: &HobtLayout| r.decided_by(layout, &hidden);
        let conditions: Vec<&Predicate> = r.conditions.iter().collect();
        let offer = Offer {
            sargs: &sargs,
            ors: &ors,
            conditions: &r.conditions,
            above: &r.above,
            decided: &decided,
            slot: &slot,
            needed: &needed,
            wish,
            estimator: &self.estimator,
            prices: self.prices,
            part: self.estimator.all(&conditions),
            width: self.estimator.width(&own),
            target: r.get.target.is_some() || r.get.location.is_some(),
            forced: if r.get.force_seek { r.get.seek_columns } else { 0 },
        };
        if !r.get.further.is_empty() {
            return self.hinted(r);
        }
        if let Some(node) = self.by_place(r) {
            return Ok(node);
        }
        let path = choose(r, &offer);
        let price = path.as_ref().map_or(f64::INFINITY, |p| p.price);
        match self.several(r, price, wish) {
            Some(node) => Ok(node),
            None => Ok(self.by_path(r, path?)),
        }
    }

    /// The row of a heap at a place that a condition says, as those of a cursor do.
    fn by_place(&self, r: &Reference<'_>) -> Option<Node> {
        let rid = r.get.target.as_ref().and_then(|t| t.rid)?;
        let place = r.conditions.iter().find_map(|p| place_said(p, rid))?;
        let slot = self.new_slot();
        let own: Slots = r.columns.values().copied().chain(locator(r.get)).collect();
        let width = self.estimator.width(&own);
        let input = Physical::Constants(Constants { rows: vec![vec![place]], columns: vec![slot] });
        let (sql_type, _) = r.table.physical_type(PhysicalColumn::Rid);
        let locator = (vec![slot], vec![sql_type]);
        let free = crate::cost::Cost::default();
        let node = Node::leaf(input, 1.0, 0.0, free).over(free, |input| {
            self.fetched(r, input, locator, &Slots::default(), r.conditions.clone())
        });
        Some(Node { width, single: true, ..node })
    }

    /// TABLESAMPLE as a part of the pages.
    fn page_sample(&self, table: &Table, sample: Sample) -> PageSample {
        let fraction = match sample.size {
            SampleSize::Percent(p) => p / 100.0,
            SampleSize::Rows(n) => n as f64 / self.estimator.table_rows(table).max(1.0),
        };
        PageSample { fraction: fraction.clamp(0.0, 1.0), seed: sample.seed }
    }

    pub(crate) fn by_path(&self, r: &Reference<'_>, path: Path<'_>) -> Node {
        let get = r.get;
        let through_base = path.position == 0;
        let lookup = !through_base && !path.covering;
        let inner: BTreeMap<usize, Slot> = r
            .columns
            .iter()
            .filter(|(c, _)| path.layout.position(PhysicalColumn::Column(**c)).is_some())
            .map(|(&c, &s)| (c, s))
            .collect();
        let rest = r.conditions.iter().enumerate().filter(|(n, _)| !path.implied.contains(n));
        let location = get.location.filter(|_| !lookup);
        let placed = get.target.iter().filter(|_| !lookup);
        let placed = placed.flat_map(|t| [t.uniquifier, t.rid]).flatten();
        let here: Slots = inner.values().copied().chain(location).chain(placed).collect();
        let own: Slots = r.columns.values().copied().chain(locator(get)).collect();
        let (early, late): (Vec<Predicate>, Vec<Predicate>) =
            rest.map(|(_, p)| p.clone()).partition(|p| {
                let reads = p.reads().slots;
                reads.intersection(&own).all(|s| here.contains(s))
            });
        let target = get.target.as_ref().filter(|_| !lookup);
        let mut columns = scan_columns(&r.table, &path, &inner);
        if let Some(slot) = target.and_then(|t| t.uniquifier) {
            columns.extend(uniquifier_column(&path, slot));
        }
        let mut access = Access {
            source: source(r, path.position),
            columns,
            rid: target.and_then(|t| t.rid),
            hint: target.and_then(|t| t.hint),
            location,
            backward: path.backward,
            ordered: path.ordered && !path.index.kind.is_heap(),
            residual: Predicate::all(early),
            sample: get.sample.map(|s| self.page_sample(&r.table, s)),
            locks: get.locks,
            seek: path.seek,
            divided: false,
        };
        let sorted = access.seek.is_some() || access.ordered;
        let single = access.seek.as_ref().is_some_and(|s| s.unique);
        let order = if sorted { path.order.clone() } else { Vec::new() };
        if access.seek.is_some() && !path.ordered && !path.backward {
            // A seek gives key order anyway.
            access.ordered = true;
        }
        let fixed = path.fixed.clone();
        let width = self.estimator.width(&own);
        let made = |tree, rows, cost| {
            let node = Node::leaf(tree, rows, width, cost);
            Node { order: order.clone(), fixed: fixed.clone(), single, ..node }
        };
        if !lookup {
            return made(Physical::Access(Box::new(access)), path.rows, path.reading);
        }
        let found = made(Physical::Access(Box::new(access.clone())), path.found, path.reading);
        let node = found.over(path.fetching, |_| self.lookup(r, &path.layout, access, late));
        Node { rows: path.rows, ..node }
    }

    /// The row of the base for each row of an index.
    fn lookup(
        &self,
        r: &Reference<'_>,
        entry: &HobtLayout,
        mut access: Access,
        late: Vec<Predicate>,
    ) -> Physical {
        let locator = self.locate(r, entry, &mut access);
        // What the index gave need not be fetched again.
        let there: Slots = access.columns.iter().map(|c| c.slot).collect();
        self.fetched(r, Physical::Access(Box::new(access)), locator, &there, late)
    }

    /// Where an index's rows leave the place of the row itself, with its types; reads it there.
    pub(crate) fn locate(
        &self,
        r: &Reference<'_>,
        entry: &HobtLayout,
        access: &mut Access,
    ) -> Locator {
        let (table, parts) = (&r.table, r.locator_parts());
        let mut locator = Vec::with_capacity(parts.len());
        let mut types = Vec::with_capacity(parts.len());
        for part in parts {
            let (sql_type, _) = table.physical_type(part);
            let field = entry.position(part).expect("an index's rows hold the locator");
            let known = access.columns.iter().find(|c| c.field == field).map(|c| c.slot);
            let slot = known.unwrap_or_else(|| {
                let slot = self.new_slot();
                access.columns.push(ScanColumn { field, sql_type, slot });
                slot
            });
            locator.push(slot);
            types.push(sql_type);
        }
        (locator, types)
    }

    /// The rows at the places that an operator gives, which has left some columns already.
    pub(crate) fn fetched(
        &self,
        r: &Reference<'_>,
        input: Physical,
        (locator, types): Locator,
        there: &Slots,
        late: Vec<Predicate>,
    ) -> Physical {
        let table = &r.table;
        let base = table.hobt_layout(table.base());
        let wanted = r.columns.iter().filter(|(_, slot)| !there.contains(slot));
        let mut columns: Vec<ScanColumn> = wanted
            .filter_map(|(&column, &slot)| {
                let field = base.position(PhysicalColumn::Column(column))?;
                Some(ScanColumn { field, sql_type: table.columns[column].sql_type, slot })
            })
            .collect();
        let target = r.get.target.as_ref();
        if let Some(slot) = target.and_then(|t| t.uniquifier)
            && let Some(field) = base.position(PhysicalColumn::Uniquifier)
        {
            columns.push(ScanColumn { field, sql_type: SqlType::varbinary(4), slot });
        }
        let lookup = KeyLookup {
            input,
            source: source(r, 0),
            locator,
            types,
            by_rid: table.base().kind.is_heap(),
            columns,
            rid: target.and_then(|t| t.rid),
            hint: target.and_then(|t| t.hint),
            location: r.get.location,
            residual: Predicate::all(late),
            locks: r.get.locks,
        };
        Physical::Lookup(Box::new(lookup))
    }

    pub(crate) fn virtual_scan(
        &mut self,
        get: &VirtualGet,
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let Some(Object::Virtual(view)) = self.references.get(get.table.0 as usize) else {
            return Err(SqlError::new(messages::INTERNAL, &[&"a reference is no system view"]));
        };
        let (conditions, late) = split_subqueries(filters);
        let mut read = needed.clone();
        for p in conditions.iter().chain(&late) {
            read.extend(self.reader().predicate(p));
        }
        let columns = get
            .columns
            .iter()
            .filter(|c| read.contains(&c.slot))
            .map(|c| ScanColumn {
                field: c.column,
                sql_type: view.columns[c.column].sql_type,
                slot: c.slot,
            })
            .collect();
        let scan = VirtualScan {
            database: get.database,
            object: get.object,
            name: get.name.clone(),
            arguments: get.arguments.clone(),
            columns,
            residual: Predicate::all(conditions),
        };
        let kept = self.estimator.all(&scan.residual.iter().collect::<Vec<_>>());
        let width = 16.0 * scan.columns.len() as f64;
        let cost = self.prices.scan(VIEW_ROWS, 1.0, 1);
        let tree = Physical::Virtual(Box::new(scan));
        Ok(self.with_filter(Node::leaf(tree, VIEW_ROWS * kept, width, cost), late))
    }
}

impl Optimizer<'_> {
    /// Conditions tested above.
    pub(crate) fn with_filter(&self, node: Node, late: Vec<Predicate>) -> Node {
        let list: Vec<&Predicate> = late.iter().collect();
        let (kept, tests) = (self.estimator.all(&list), list.len());
        match Predicate::all(late) {
            None => node,
            Some(predicate) => {
                self.note_runs(node.rows, |reads| predicate.read_into(reads));
                let rows = node.rows * kept;
                let cost = self.prices.tests(node.rows, tests);
                let node = node.over(cost, |input| {
                    Physical::Filter(Filter { input: Box::new(input), predicate })
                });
                Node { rows, ..node }
            }
        }
    }
}

/// The conditions of which a row must satisfy one.
fn alternatives(p: &Predicate) -> Option<Cow<'_, [Predicate]>> {
    match p {
        Predicate::Or(parts) => Some(Cow::Borrowed(parts)),
        Predicate::InList { operand, list, collation } if sarg::wide(operand).is_some() => {
            let equal = |x: &plan::Scalar| Predicate::Compare {
                op: plan::CompareOp::Equal,
                left: operand.clone(),
                right: Box::new(x.clone()),
                collation: *collation,
            };
            Some(Cow::Owned(list.iter().map(equal).collect()))
        }
        _ => None,
    }
}

/// Conditions that a scan can test itself, and those that run subqueries.
fn split_subqueries(filters: Vec<Predicate>) -> (Vec<Predicate>, Vec<Predicate>) {
    filters.into_iter().partition(|p| p.reads().subqueries.is_empty())
}

/// The cheapest path that the hints allow.
fn choose<'r>(r: &'r Reference<'_>, offer: &Offer<'_>) -> SqlResult<Path<'r>> {
    let get = r.get;
    let allowed = |n: &usize| {
        let index = &r.table.indexes[*n];
        let named = get.index.map_or(!index.disabled, |hinted| *n == hinted);
        named && index.filter.as_ref().is_none_or(|f| crate::filtered::implies(offer, f))
    };
    let mut best: Option<Path<'r>> = None;
    for position in (0..r.table.indexes.len()).filter(allowed) {
        let ways = match get.force_scan {
            true => Path::ways(&r.table, position, &Offer { sargs: &[], ors: &[], ..*offer }),
            false => Path::ways(&r.table, position, offer),
        };
        for path in ways {
            let sought = path.seek.as_ref().map(|s| s.types.len());
            if get.force_seek && sought.is_none_or(|n| n < get.seek_columns) {
                continue;
            }
            if best.as_ref().is_none_or(|b| path.price < b.price) {
                best = Some(path);
            }
        }
    }
    best.ok_or_else(|| SqlError::new(messages::HINTS_NO_PLAN, &[]))
}

/// What a condition says that a slot is, apart from any row.
fn place_said(p: &Predicate, slot: Slot) -> Option<Scalar> {
    let Predicate::Compare { op: CompareOp::Equal, left, right, .. } = p else { return None };
    let reads = right.reads();
    let apart = reads.slots.is_empty() && reads.subqueries.is_empty();
    (left.as_column() == Some(slot) && apart).then(|| Scalar::clone(right))
}

fn locator(get: &Get) -> impl Iterator<Item = Slot> + '_ {
    let target = get.target.iter().flat_map(|t| [t.uniquifier, t.rid, t.hint]).flatten();
    target.chain(get.location)
}

fn source(r: &Reference<'_>, position: usize) -> Source {
    let index = &r.table.indexes[position];
    Source {
        database: r.table.database,
        object: r.table.object_id,
        hobt: index.partitions.sole(),
        table: r.table.two_part_name().into(),
        index: index.name.clone(),
        alias: r.get.alias.clone(),
    }
}

fn scan_columns(
    table: &Table,
    path: &Path<'_>,
    columns: &BTreeMap<usize, Slot>,
) -> Vec<ScanColumn> {
    let one = |(&column, &slot): (&usize, &Slot)| {
        let field = path.layout.position(PhysicalColumn::Column(column))?;
        Some(ScanColumn { field, sql_type: table.columns[column].sql_type, slot })
    };
    columns.iter().filter_map(one).collect()
}

fn uniquifier_column(path: &Path<'_>, slot: Slot) -> Option<ScanColumn> {
    let field = path.layout.position(PhysicalColumn::Uniquifier)?;
    Some(ScanColumn { field, sql_type: SqlType::varbinary(4), slot })
}
