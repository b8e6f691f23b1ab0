import Foundation
import Testing

/// docs/COMPATIBILITY.md says of each of Apple's symbols how it stands, and it is so.
///
/// With `DIPTYCH_WRITE_DOCUMENTS=1` the test writes the table of today into the document.
@Suite(.enabled(if: DeclaredSymbols.canBeRead, "swift-symbolgraph-extract is not in PATH"))
struct CompatibilityTests {
    @Test func whatIsSaidToBeThereIsDeclared() throws {
        let declared = try DeclaredSymbols.names()
        let wrong = try SymbolTable().symbols.filter { symbol in
            let isDeclared =
                declared.contains(symbol.name)
                || symbol.owner != symbol.name && declared.contains(shortened(symbol.name))
            return isDeclared == (symbol.standing == .absent)
        }
        #expect(wrong.map { "\($0.name) is said to be \($0.standing)" } == [])
    }

    /// The last two parts of a dotted name whose labels may have dots of their own.
    private func shortened(_ name: String) -> String {
        let head = name.prefix { $0 != "(" }.split(separator: ".").suffix(2)
        return head.joined(separator: ".") + name.drop { $0 != "(" }
    }

    @Test func whatIsNotThereAsAppleHasItHasAReason() throws {
        for symbol in try SymbolTable().symbols {
            #expect(symbol.reason.isEmpty == (symbol.standing == .there), "\(symbol.name)")
        }
    }

    @Test func thePageIsTheTable() throws {
        let url = Document.root.appendingPathComponent(CompatibilityPage.path)
        let page = try String(contentsOf: url, encoding: .utf8)
        let start = try #require(page.range(of: CompatibilityPage.heading)?.lowerBound)
        let text = CompatibilityPage(table: try SymbolTable()).text
        if ProcessInfo.processInfo.environment["DIPTYCH_WRITE_DOCUMENTS"] == "1" {
            try Data((page[..<start] + text).utf8).write(to: url)
            return
        }
        #expect(
            String(page[start...]) == text,
            """
            The table changed. DIPTYCH_WRITE_DOCUMENTS=1 DIPTYCH_TESTS=DocumentationTests \
            swift test --filter CompatibilityTests writes it into \(CompatibilityPage.path).
            """)
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: SymbolTable.apples.path),
            "the table of Apple's symbols is not beside the project"))
    func theTableHasEveryCurrentSymbolOfApples() throws {
        let text = try String(contentsOf: SymbolTable.apples, encoding: .utf8)
        let rows = text.split(separator: "\n").dropFirst().map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        let current = rows.filter {
            !$0[7].contains("deprecated") && $0[6] != "core spotlight"
        }
        let apples = current.map { row in
            row[0] == "(global)" || row[0] == row[3] || row[0].isEmpty
                ? row[3] : "\(row[0]).\(row[3])"
        }
        let ours = try SymbolTable().symbols.map(\.name)
        #expect(Set(apples).subtracting(ours).isEmpty)
        #expect(Set(ours).subtracting(apples).isEmpty)
    }
}
