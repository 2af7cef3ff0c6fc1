//! State in which a page writes: the place of the next character, and its size.

use std::rc::Rc;

use phigate_types::Unread;

use super::file::File;
use super::font::Font;
use super::object::Object;

/// Character on a page.
pub(super) struct Glyph {
    /// `None` if its font does not say it.
    pub(super) text: Option<String>,
    pub(super) x: f64,
    pub(super) y: f64,
    /// Direction of the line, of length 1.
    pub(super) direction: (f64, f64),
    /// Width along the line.
    pub(super) width: f64,
    /// Height of the letters.
    pub(super) size: f64,
    /// Whether it is the only one of its operator.
    pub(super) is_alone: bool,
}

impl Glyph {
    /// Whether it is white space.
    pub(super) fn is_space(&self) -> bool {
        self.text
            .as_ref()
            .is_some_and(|text| text.trim().is_empty())
    }
}

/// Map from one system of coordinates to another.
#[derive(Clone, Copy)]
pub(super) struct Matrix([f64; 6]);

impl Default for Matrix {
    fn default() -> Self {
        Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    }
}

impl Matrix {
    /// Reads a matrix.
    pub(super) fn of(file: &File<'_>, items: &[Object]) -> Result<Self, Unread> {
        let mut matrix = [0.0; 6];
        if items.len() != 6 {
            return Err(Unread::Damaged);
        }
        for (field, item) in matrix.iter_mut().zip(items) {
            let Object::Number(number) = file.follow(item).0 else {
                return Err(Unread::Damaged);
            };
            *field = *number;
        }
        Ok(Self(matrix))
    }

    fn moved(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Returns the map that applies this one, and then another.
    pub(super) fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [u, v, w, x, y, z]) = (self.0, other.0);
        Self([
            a * u + b * w,
            a * v + b * x,
            c * u + d * w,
            c * v + d * x,
            e * u + f * w + y,
            e * v + f * x + z,
        ])
    }
}

/// State of a page.
#[derive(Clone, Default)]
pub(super) struct Graphics {
    pub(super) matrix: Matrix,
    pub(super) font: Option<(usize, Rc<Font>)>,
    pub(super) size: f64,
    pub(super) letter_space: f64,
    pub(super) word_space: f64,
    /// Width of letters in hundredths, less 100.
    stretch: f64,
    leading: f64,
    rise: f64,
    text: Matrix,
    line: Matrix,
}

impl Graphics {
    /// Executes an operator that places text. Returns `false` for every other operator.
    pub(super) fn place(
        &mut self,
        file: &File<'_>,
        word: &[u8],
        operands: &[Object],
    ) -> Result<bool, Unread> {
        let one = || match operands {
            [Object::Number(number)] => Ok(*number),
            _ => Err(Unread::Damaged),
        };
        match word {
            b"BT" => self.start(Matrix::default()),
            b"ET" => {}
            b"Tc" => self.letter_space = one()?,
            b"Tw" => self.word_space = one()?,
            b"Tz" => self.stretch = one()? - 100.0,
            b"TL" => self.leading = one()?,
            b"Ts" => self.rise = one()?,
            b"T*" => self.next_line(),
            b"Tm" => self.start(Matrix::of(file, operands)?),
            b"Td" | b"TD" => {
                // LibreOffice writes a further number in front, which readers ignore.
                let [.., Object::Number(x), Object::Number(y)] = operands else {
                    return Err(Unread::Damaged);
                };
                if word == b"TD" {
                    self.leading = -y;
                }
                self.start(Matrix::moved(*x, *y).then(self.line));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn start(&mut self, line: Matrix) {
        (self.text, self.line) = (line, line);
    }

    /// Goes to the beginning of the next line.
    pub(super) fn next_line(&mut self) {
        self.start(Matrix::moved(0.0, -self.leading).then(self.line));
    }

    fn scale(&self) -> f64 {
        1.0 + self.stretch / 100.0
    }

    /// Moves the next character by thousandths of the size.
    pub(super) fn kern(&mut self, offset: f64) {
        let by = -offset / 1000.0 * self.size;
        let is_vertical = self.font.as_ref().is_some_and(|(_, font)| font.is_vertical);
        self.text = if is_vertical {
            Matrix::moved(0.0, by).then(self.text)
        } else {
            Matrix::moved(by * self.scale(), 0.0).then(self.text)
        };
    }

    /// Returns the next character in its place, and goes on behind it.
    pub(super) fn advance(
        &mut self,
        text: Option<String>,
        width: f64,
        is_space: bool,
        is_vertical: bool,
    ) -> Glyph {
        let place = self.text.then(self.matrix).0;
        let spaces = self.letter_space + if is_space { self.word_space } else { 0.0 };
        let (across, down) = if is_vertical {
            (0.0, -self.size + spaces)
        } else {
            ((width * self.size + spaces) * self.scale(), 0.0)
        };
        let [a, b, c, d, ..] = place;
        // The advance on the page, and the direction of lines even if there is none.
        let (x, y) = (across * a + down * c, across * b + down * d);
        let along = if is_vertical { (-c, -d) } else { (a, b) };
        let length = along.0.hypot(along.1);
        let sign = if self.size * self.scale() < 0.0 {
            -1.0
        } else {
            1.0
        };
        let direction = if length > 0.0 {
            (sign * along.0 / length, sign * along.1 / length)
        } else {
            (1.0, 0.0)
        };
        let glyph = Glyph {
            text,
            x: self.rise * c + place[4],
            y: self.rise * d + place[5],
            direction,
            width: x * direction.0 + y * direction.1,
            size: (self.size * c.hypot(d)).abs(),
            is_alone: false,
        };
        self.text = Matrix::moved(across, down).then(self.text);
        glyph
    }
}
