package import Platform

/// A page of figures in Prometheus' text format, version 0.0.4.
package struct ExpositionText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package enum Kind: String {
        case counter, gauge, histogram
    }

    package typealias Labels = [(name: String, value: String)]

    package private(set) var text = ""

    package init() {}

    /// Begins a family, to which the samples that follow belong.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    package mutating func sample(_ name: String, _ labels: Labels = [], _ value: Double) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(Self.spelled(value))\n"
    }

    /// A family of one sample.
    package mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        family(name, kind, help)
        sample(name, [], value)
    }

    /// The samples of one histogram of a family.
    package mutating func histogram(
        _ name: String, _ labels: Labels = [], _ summary: HistogramSummary
    ) {
        for (index, count) in summary.counts.enumerated() {
            let isBound = index < summary.bounds.count
            let bound = isBound ? Self.spelled(summary.bounds[index]) : "+Inf"
            sample("\(name)_bucket", labels + [("le", bound)], Double(count))
        }
        sample("\(name)_sum", labels, summary.sum)
        sample("\(name)_count", labels, Double(summary.count))
    }

    /// Whole numbers without a point, as far as they are exact.
    private static func spelled(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        let isWhole = value == value.rounded() && value.magnitude < 9_007_199_254_740_992
        return isWhole ? String(Int64(value)) : String(value)
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }
}
