//! The closing line of a client: `N operations, N passed, 0 failed`.

use checks::Outcome;

/// The closing line where the client passed, else what is wrong with its end.
pub(crate) fn judge(output: &str, succeeded: bool) -> Outcome<String> {
    let line = output.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("");
    let [operations, passed, failed] = counts(line).ok_or_else(|| {
        format!("its last line is not 'N operations, N passed, N failed' but '{line}'")
    })?;
    if failed > 0 || passed != operations || operations == 0 {
        return Err(line.to_owned());
    }
    if !succeeded {
        return Err(format!("{line}, yet its exit code is not 0"));
    }
    Ok(line.to_owned())
}

fn counts(line: &str) -> Option<[u32; 3]> {
    let mut counts = [0; 3];
    let mut parts = line.split(", ");
    for (count, unit) in counts.iter_mut().zip(["operations", "passed", "failed"]) {
        let (number, word) = parts.next()?.split_once(' ')?;
        if word != unit {
            return None;
        }
        *count = number.parse().ok()?;
    }
    parts.next().is_none().then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client passes only by a closing line that counts, all passed, and exit code 0.
    #[test]
    fn closings() {
        let cases = [
            ("hello\n12 operations, 12 passed, 0 failed\n\n", true, true),
            ("12 operations, 12 passed, 0 failed", false, false),
            ("12 operations, 11 passed, 1 failed", true, false),
            ("12 operations, 11 passed, 0 failed", true, false),
            ("0 operations, 0 passed, 0 failed", true, false),
            ("12 operations, 12 passed, 0 failed\nbye", true, false),
            ("12 passed", true, false),
            ("", true, false),
        ];
        for (output, succeeded, passes) in cases {
            assert_eq!(judge(output, succeeded).is_ok(), passes, "{output}");
        }
    }
}
