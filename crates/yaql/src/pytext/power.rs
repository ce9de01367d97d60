//! Powers and remainders.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::error::{Error, ErrorClass, Result};

/// Returns `a % b` on floats, which has the sign of the divisor.
pub fn float_floor_mod(a: f64, b: f64) -> Result<f64> {
    if b == 0.0 {
        return Err(Box::new(Error::new(ErrorClass::ZeroDivision, "float modulo")));
    }
    let rest = a % b;
    Ok(if rest == 0.0 {
        0.0_f64.copysign(b)
    } else if (b < 0.0) != (rest < 0.0) {
        rest + b
    } else {
        rest
    })
}

/// Returns `a ** b` on floats. A complex result, which the language does not support, is an error.
pub fn float_pow(a: f64, b: f64) -> Result<f64> {
    if a == 0.0 && b < 0.0 && b.is_finite() {
        let message = "0.0 cannot be raised to a negative power";
        return Err(Box::new(Error::new(ErrorClass::ZeroDivision, message)));
    }
    if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
        return Err(Box::new(Error::value("complex result")));
    }
    // C's `pow`, which `powf` calls, agrees with Python on infinities, zeros and NaN.
    let result = a.powf(b);
    if result.is_infinite() && a.is_finite() && b.is_finite() {
        return Err(Box::new(Error::overflow("(34, 'Numerical result out of range')")));
    }
    Ok(result)
}

/// Returns `pow(base, exponent, modulus)`, which has the sign of the modulus. A negative exponent uses the
/// modular inverse.
pub fn pow_mod(base: &BigInt, exponent: &BigInt, modulus: &BigInt) -> Result<BigInt> {
    if modulus.is_zero() {
        return Err(Box::new(Error::value("pow() 3rd argument cannot be 0")));
    }
    let positive = modulus.abs();
    // Modulo 1 every result is 0, even if there is no inverse.
    if positive.is_one() {
        return Ok(BigInt::zero());
    }
    let base = base.mod_floor(&positive);
    let base = if exponent.is_negative() { inverse(&base, &positive)? } else { base };
    let result = base.modpow(&exponent.abs(), &positive);
    Ok(if modulus.is_negative() && !result.is_zero() { result + modulus } else { result })
}

fn inverse(base: &BigInt, modulus: &BigInt) -> Result<BigInt> {
    base.modinv(modulus).ok_or_else(|| Box::new(Error::value("base is not invertible for the given modulus")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders() {
        let inf = f64::INFINITY;
        let cases = [
            (9.5, 4.0, 1.5),
            (-9.0, 4.0, 3.0),
            (9.0, -4.0, -3.0),
            (-8.0, 4.0, 0.0),
            (8.0, -4.0, -0.0),
            (-5.0, inf, inf),
            (5.0, -inf, -inf),
            (5.0, inf, 5.0),
            (-1e-300, 3.0, 3.0),
        ];
        for (a, b, expected) in cases {
            let got = float_floor_mod(a, b).expect("not zero");
            assert_eq!(got.to_bits(), f64::to_bits(expected), "{a} % {b} = {got}");
        }
        assert!(float_floor_mod(inf, 2.0).expect("nan").is_nan());
        assert!(float_floor_mod(2.0, f64::NAN).expect("nan").is_nan());
        assert_eq!(float_floor_mod(1.0, -0.0).expect_err("zero").message, "float modulo");
    }

    #[test]
    fn powers() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let cases = [
            (2.0, 0.5, std::f64::consts::SQRT_2),
            (nan, 0.0, 1.0),
            (1.0, nan, 1.0),
            (-1.0, inf, 1.0),
            (-1.0, -inf, 1.0),
            (0.5, -inf, inf),
            (-0.0, -inf, inf),
            (-inf, 3.0, -inf),
            (-inf, 0.5, inf),
            (-inf, -3.0, -0.0),
            (-0.0, 3.0, -0.0),
            (-0.0, 0.5, 0.0),
            (-2.0, 3.0, -8.0),
            (10.0, -400.0, 0.0),
            (-1.0, 1e300, 1.0),
        ];
        for (a, b, expected) in cases {
            let got = float_pow(a, b).expect("defined");
            assert_eq!(got.to_bits(), f64::to_bits(expected), "{a} ** {b} = {got}");
        }
        let refused = [
            (0.0, -1.0, ErrorClass::ZeroDivision),
            (-0.0, -0.5, ErrorClass::ZeroDivision),
            (10.0, 400.0, ErrorClass::Overflow),
            (-10.0, 401.0, ErrorClass::Overflow),
            (-8.0, 0.5, ErrorClass::Value),
        ];
        for (a, b, class) in refused {
            assert_eq!(float_pow(a, b).expect_err("refused").class, class, "{a} ** {b}");
        }
    }

    #[test]
    fn modular() {
        let pow = |a, b, c| pow_mod(&BigInt::from(a), &BigInt::from(b), &BigInt::from(c));
        let cases = [
            (7, 2, 10, 9),
            (3, -1, 7, 5),
            (3, -2, 7, 4),
            (-7, 3, 10, 7),
            (7, 2, -10, -1),
            (2, 10, -4, 0),
            (5, 0, 7, 1),
            (5, 0, 1, 0),
            (0, 0, 7, 1),
            (2, -1, -1, 0),
            (2, -1, 1, 0),
            (-3, -1, -7, -5),
        ];
        for (a, b, c, expected) in cases {
            assert_eq!(pow(a, b, c).expect("defined"), BigInt::from(expected), "pow({a}, {b}, {c})");
        }
        assert_eq!(pow(2, -1, 0).expect_err("zero").message, "pow() 3rd argument cannot be 0");
        let error = pow(2, -1, 4).expect_err("no inverse");
        assert_eq!(error.message, "base is not invertible for the given modulus");
        assert!(pow(0, -1, 5).is_err());
    }
}
