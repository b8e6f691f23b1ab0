import Foundation
import Predicates
import Testing

@Suite struct SortingTests {
    @Test func aKeyedDescriptorSaysWhatItSortsBy() {
        let descriptor = NSSortDescriptor(key: "a.b", ascending: false)
        #expect(key(of: descriptor) == SortKey(path: ["a", "b"], ascending: false))
        #expect(descriptor.key == "a.b")
        #expect(!descriptor.ascending)
        let standard = NSSortDescriptor(key: "a", ascending: true, comparison: .localizedStandard)
        #expect(key(of: standard)?.comparison == .localizedStandard)
    }

    @Test func aSwiftKeyPathIsNamedByWhoKnowsIt() {
        let descriptor = NSSortDescriptor(keyPath: \String.count, ascending: true)
        #expect(key(of: descriptor) == nil)
        let named = key(of: descriptor) { $0 == \String.count ? "count" : nil }
        #expect(named == SortKey(path: ["count"]))
    }

    @Test func missingValuesComeFirstAndReversingReverses() {
        let rows: [[String: Any]] = [["n": 3], [:], ["n": 1], ["n": 2.5]]
        let descriptor = NSSortDescriptor(key: "n", ascending: true)
        #expect(sorted(rows, by: descriptor).map { $0["n"] as? Int ?? -1 } == [-1, 1, -1, 3])
        let reversed = descriptor.reversedSortDescriptor as? NSSortDescriptor
        #expect(
            reversed.map { sorted(rows, by: $0).map { $0["n"] as? Int ?? -1 } } == [3, -1, 1, -1])
    }

    @Test func textsAreOrderedByTheComparison() {
        func order(_ comparison: SortComparison, _ a: String, _ b: String) -> ComparisonResult {
            NSSortDescriptor(key: "self", ascending: true, comparison: comparison)
                .compare(a, to: b)
        }
        #expect(order(.compare, "a", "B") == .orderedDescending)
        #expect(order(.caseInsensitive, "a", "B") == .orderedAscending)
        #expect(order(.caseInsensitive, "a", "A") == .orderedSame)
        #expect(order(.localizedStandard, "a10", "a9") == .orderedDescending)
        #expect(order(.compare, "a10", "a9") == .orderedAscending)
    }

    @Test func aComparatorOfTheAppsIsAsked() {
        let byLength = NSSortDescriptor(key: "self", ascending: false) { a, b in
            let (left, right) = ("\(a)".count, "\(b)".count)
            return left < right
                ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
        }
        #expect(key(of: byLength)?.comparison == .custom)
        #expect(byLength.compare("aaa", to: "b") == .orderedAscending)
    }

    @Test func valuesWithoutAnOrderAreAnErrorOfTheKey() {
        #expect(throws: EvaluationError.self) {
            try SortKey(path: ["n"]).order(["n": 1], ["n": "x"])
        }
    }

    private func sorted(
        _ rows: [[String: Any]], by descriptor: NSSortDescriptor
    ) -> [[String: Any]] {
        rows.sorted { descriptor.compare($0, to: $1) == .orderedAscending }
    }
}
