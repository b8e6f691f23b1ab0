import Foundation
import Testing

@Suite struct HouseRulesTests {
    static let files = Result { try SourceTree.files() }

    @Test(arguments: Rule.all)
    func theSourcesKeep(rule: Rule) throws {
        let files = try Self.files.get()
        for finding in rule.find(files) {
            Issue.record("\(finding.description)\n    rule: \(rule.text)")
        }
    }

    @Test func theWholePackageIsRead() throws {
        let files = try Self.files.get()
        for area in ["Sources", "Mirror", "Tests"] {
            #expect(files.contains { $0.area == area && $0.isSwift }, "\(area)")
        }
        #expect(files.contains { $0.path == "Package.swift" })
        #expect(Set(files.map(\.path)).count == files.count)
    }
}
