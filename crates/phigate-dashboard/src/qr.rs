//! A QR code as the outline of its dark squares, for an inline drawing: no image, no script, no style.

use qrcode::{Color, EcLevel, QrCode};

/// Readers need a margin of four squares.
const MARGIN: usize = 4;

/// A drawing in units of one square.
#[derive(Debug)]
pub(crate) struct Drawing {
    /// Width and height, margin included.
    pub(crate) side: usize,
    /// The `d` of an SVG path: one rectangle per run of dark squares.
    pub(crate) path: String,
}

/// Draws a text; `None` if it is too long.
pub(crate) fn draw(text: &str) -> Option<Drawing> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let width = code.width();
    let mut path = String::new();
    for (row, squares) in code.to_colors().chunks(width).enumerate() {
        let mut column = 0;
        for run in squares.chunk_by(|one, next| one == next) {
            let length = run.len();
            if run[0] == Color::Dark {
                let (x, y) = (column + MARGIN, row + MARGIN);
                path.push_str(&format!("M{x} {y}h{length}v1h-{length}z"));
            }
            column += length;
        }
    }
    Some(Drawing {
        side: width + 2 * MARGIN,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The squares that a path covers, drawn as text.
    fn squares(drawing: &Drawing) -> Vec<String> {
        let mut rows = vec![vec!['.'; drawing.side]; drawing.side];
        for run in drawing.path.split('M').skip(1) {
            let numbers: Vec<usize> = run
                .split(|letter: char| !letter.is_ascii_digit())
                .filter_map(|number| number.parse().ok())
                .collect();
            for square in &mut rows[numbers[1]][numbers[0]..numbers[0] + numbers[2]] {
                *square = '#';
            }
        }
        rows.into_iter().map(String::from_iter).collect()
    }

    #[test]
    fn qr_drawing_has_three_corners_and_margin() {
        let address = "otpauth://totp/phigate:sam%40clinic.example?secret=JBSWY3DPEHPK3PXP";
        let drawing = draw(address).unwrap();
        let rows = squares(&drawing);
        assert!(rows[..MARGIN].iter().all(|row| !row.contains('#')));
        let corner = [
            "#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######",
        ];
        let far = drawing.side - MARGIN - 7;
        for (top, left) in [(MARGIN, MARGIN), (MARGIN, far), (far, MARGIN)] {
            let found: Vec<&str> = (top..top + 7)
                .map(|row| &rows[row][left..left + 7])
                .collect();
            assert_eq!(found, corner, "at {top}, {left}");
        }
    }

    #[test]
    fn overlong_text_is_not_drawn() {
        assert!(draw(&"x".repeat(10_000)).is_none());
    }
}
