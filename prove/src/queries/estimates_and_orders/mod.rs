//! query.6, the optimizer judged: estimates beside the truth, chosen plans beside forced orders,
//! and how long choosing takes.

mod choosing;
mod estimates;
mod orders;
mod shops;

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("query.6")?;
    let data = work.join("data");
    shops::load(ground, &work, &data)?;
    let mut figures = estimates::judge(ground, &work, &data)?;
    figures.extend(orders::judge(ground, &work, &data)?);
    figures.extend(choosing::judge(ground, &work, &data)?);
    Ok(figures)
}
