import Foundation

/// A page of figures, read as strictly as its format is written down (Prometheus, text 0.0.4).
struct Exposition {
    struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Family {
        var kind: String
        var help: String
        var samples: [Sample] = []
    }

    struct Malformed: Error, CustomStringConvertible {
        var description: String
    }

    private(set) var families: [String: Family] = [:]
    private var current = ""
    private var seen: Set<Sample> = []

    init(_ text: String) throws {
        guard text.isEmpty || text.hasSuffix("\n") else { throw Malformed(description: "no end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            do {
                if line.hasPrefix("#") { try readRemark(line) } else { try readSample(line) }
            } catch {
                throw Malformed(description: "\(error) in: \(line)")
            }
        }
        for (name, family) in families { try check(family, name) }
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let family = families.values.flatMap(\.samples)
        return family.first { $0.name == name && $0.labels == labels }?.value
    }

    // MARK: Lines

    private mutating func readRemark(_ line: Substring) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "#" else { throw Malformed(description: "a remark") }
        let name = String(words[2])
        guard Self.isName(name, allowsColon: true) else { throw Malformed(description: "a name") }
        switch words[1] {
        case "HELP":
            guard families[name] == nil else { throw Malformed(description: "a second family") }
            families[name] = Family(kind: "", help: String(words[3]))
            current = name
        case "TYPE":
            guard current == name, families[name]?.kind == "",
                ["counter", "gauge", "histogram"].contains(words[3])
            else { throw Malformed(description: "a type") }
            families[name]?.kind = String(words[3])
        default: throw Malformed(description: "a remark")
        }
    }

    private mutating func readSample(_ line: Substring) throws {
        var rest = line
        let name = String(rest.prefix { $0 != "{" && $0 != " " })
        guard Self.isName(name, allowsColon: true) else { throw Malformed(description: "a name") }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" { labels = try Self.labels(&rest) }
        guard rest.first == " " else { throw Malformed(description: "no space") }
        guard let value = Self.number(rest.dropFirst()) else {
            throw Malformed(description: "no number")
        }
        guard let family = families[current] else { throw Malformed(description: "no family") }
        let ends = family.kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard ends.contains(where: { current + $0 == name }) else {
            throw Malformed(description: "a sample of no family")
        }
        guard family.kind != "counter" || name.hasSuffix("_total") && value >= 0 else {
            throw Malformed(description: "a counter")
        }
        guard seen.insert(Sample(name: name, labels: labels, value: 0)).inserted else {
            throw Malformed(description: "a second sample")
        }
        families[current]?.samples.append(Sample(name: name, labels: labels, value: value))
    }

    private static func labels(_ rest: inout Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        rest = rest.dropFirst()
        while rest.first != "}" {
            let name = String(rest.prefix { $0 != "=" })
            guard isName(name, allowsColon: false), !name.hasPrefix("__"), labels[name] == nil
            else { throw Malformed(description: "a label") }
            rest = rest.dropFirst(name.count)
            guard rest.hasPrefix("=\"") else { throw Malformed(description: "a label") }
            rest = rest.dropFirst(2)
            labels[name] = try quoted(&rest)
            if rest.first == "," {
                rest = rest.dropFirst()
            } else if rest.first != "}" {
                throw Malformed(description: "labels")
            }
        }
        rest = rest.dropFirst()
        return labels
    }

    private static func quoted(_ rest: inout Substring) throws -> String {
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\":
                switch rest.popFirst() {
                case "\\": value += "\\"
                case "\"": value += "\""
                case "n": value += "\n"
                default: throw Malformed(description: "an escape")
                }
            default: value.append(character)
            }
        }
        throw Malformed(description: "an open quote")
    }

    private static func number(_ text: Substring) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default:
            text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?/) == nil ? nil : Double(text)
        }
    }

    private static func isName(_ name: String, allowsColon: Bool) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
            case 0x3A: allowsColon
            default: false
            }
        }
    }

    // MARK: Families

    private func check(_ family: Family, _ name: String) throws {
        guard !family.kind.isEmpty, !family.help.isEmpty else {
            throw Malformed(description: "\(name) has no type or help")
        }
        guard family.kind != "histogram" else { return try checkHistogram(family, name) }
        if name.contains("seconds") || name.contains("bytes") {
            let units = ["_seconds", "_bytes", "_seconds_total", "_bytes_total"]
            guard units.contains(where: name.hasSuffix) else {
                throw Malformed(description: "\(name) has its unit in the middle")
            }
        }
    }

    private func checkHistogram(_ family: Family, _ name: String) throws {
        var series: [[String: String]: [(Double, Double)]] = [:]
        for sample in family.samples where sample.name == name + "_bucket" {
            var labels = sample.labels
            guard let bound = labels.removeValue(forKey: "le").flatMap({ Self.number($0[...]) })
            else { throw Malformed(description: "\(name) has a bucket without a bound") }
            series[labels, default: []].append((bound, sample.value))
        }
        for (labels, buckets) in series {
            let bounds = buckets.map(\.0)
            let counts = buckets.map(\.1)
            guard bounds == bounds.sorted(), bounds.last == .infinity, counts == counts.sorted(),
                counts.last == value(name + "_count", labels), value(name + "_sum", labels) != nil
            else { throw Malformed(description: "\(name) is no histogram") }
        }
    }
}
