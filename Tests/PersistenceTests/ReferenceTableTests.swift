import Testing

@testable import Persistence

@Suite struct ReferenceTableTests {
    @Test func freshNumbersAreThoseThatNoReferenceIs() {
        var table = ReferenceTable()
        let seven = table.key(for: 7, tree: "A")
        _ = table.key(for: "99", tree: "A")
        #expect(table.freshNumber(tree: "A") == 8)
        #expect(table.freshNumber(tree: "A") == 9)
        #expect(table.freshNumber(tree: "B") == 1)
        #expect(table.key(for: 7, tree: "A") == seven)
        #expect(table.reference(for: seven) as? Int == 7)
        #expect(table.uriName(of: seven) == "p7")
    }
}
