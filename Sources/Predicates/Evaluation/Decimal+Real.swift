package import Foundation

extension Decimal {
    /// The real that is nearest. Foundation's own divides by ten for each digit after the point and
    /// rounds each time, so that 8962.829 becomes 8962.829000000002.
    package var nearestReal: Double {
        Double(description) ?? NSDecimalNumber(decimal: self).doubleValue
    }
}
