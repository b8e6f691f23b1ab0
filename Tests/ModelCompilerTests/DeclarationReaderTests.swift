import Testing

@testable import ModelCompiler

@Suite struct DeclarationReaderTests {
    private func members(_ text: String) throws -> [String] {
        try DeclarationReader.declarations(in: text, file: "Test.swift").members.map { member in
            let owner = member.owner.joined(separator: ".")
            guard case .property(let type) = member.kind else { return "\(owner).\(member.name)()" }
            return "\(owner).\(member.name): \(type)"
        }
    }

    @Test func commentsAndStringsHideWhatTheySay() throws {
        let found = try members(
            ###"""
            // class A { @NSManaged var no: Int }
            /* class A { /* nested } */ @NSManaged var no: Int } */
            class A: NSManagedObject {
                let text = "} @NSManaged var no: \(call("}", { "}" })) \" {"
                let raw = #"} " \( @NSManaged var no: Int"# + ##"\##("}")"##
                let long = """
                    } @NSManaged var no: Int "quoted" \("}")
                    """
                let pattern = /[}"]+\/}/
                let extended = #/ } " /#
                @NSManaged var yes: Int
            }
            """###)
        #expect(found == ["A.yes: Int"])
    }

    @Test func bodiesArePassedOverWhateverTheyHold() throws {
        let found = try members(
            """
            import Foundation
            @objc @available(macOS 10.15, *) public final class A: B, @unchecked Sendable {
                enum Kind: Int16 {
                    case `class`, open, actor
                    var next: Kind { self == .open ? .actor : .open }
                }
                var computed: [String: Int] { get { [:] } set { print(newValue) } }
                lazy var made: Int = { class Local { var x = 1 }; return Local().x }()
                static func make<T>(_ v: T) -> [T] where T: Equatable { switch v { default: [] } }
                subscript(index: Int) -> Int { index }
                init() { super.init() }
                class func shared() -> A { A() }
                class var count: Int { 0 }
                struct Inner { class Deep: NSManagedObject { @NSManaged var deep: Kind } }
                @NSManaged public private(set) var yes: Int
            }
            protocol P { var x: Int { get }; func f() }
            extension A.Inner.Deep: P where Self: AnyObject {
                @NSManaged func addToTags(_ value: Tag)
                var x: Int { 1 }
            }
            """)
        #expect(found == ["A.Inner.Deep.deep: Kind", "A.yes: Int", "A.Inner.Deep.addToTags()"])
    }

    @Test func attributesMayStandOnLinesOfTheirOwn() throws {
        let found = try members(
            """
            class A: NSManagedObject {
                @NSManaged
                public
                var one: String?
                @available(*, deprecated, message: "}") @NSManaged
                dynamic var two, three: Int16, four: [Int: Set<A>?]
                @NSManaged var five : Foundation . Date !; @NSManaged var six: (any P)?
            }
            """)
        #expect(
            found == [
                "A.one: String?", "A.two: Int16", "A.three: Int16", "A.four: [Int: Set<A>?]",
                "A.five: Foundation.Date?", "A.six: (any P)?",
            ])
    }

    @Test func onlyWhatIsCompiledOnLinuxIsRead() throws {
        let found = try members(
            """
            #if canImport(ObjectiveC)
            @objc(A)
            #endif
            class A: NSManagedObject {
                #if os(macOS) || os(iOS)
                @NSManaged var apple: Int
                #elseif os(Linux) && !targetEnvironment(simulator)
                @NSManaged var linux: Int
                #else
                @NSManaged var other: Int
                #endif
                #if swift(>=5.9) // always
                @NSManaged var modern: Int
                #endif
                #if DEBUG
                var debugging = true
                #endif
            }
            """)
        #expect(found == ["A.linux: Int", "A.modern: Int"])
    }

    /// Whether a target sees CloudKit depends on the libraries it uses.
    @Test(arguments: ["canImport(CloudKit)", "!canImport(CloudKit)"])
    func onlyTheBuildKnowsWhetherThereIsCloudKit(condition: String) {
        let error = refusal(
            "#if \(condition)\nclass A: NSManagedObject {\n@NSManaged var a: Int\n}\n#endif")
        #expect(error?.fields["line"] == "3")
        #expect(error?.description.contains("only a build setting decides") == true)
    }

    @Test func anOperatorAsAnArgumentBeginsNoRegularExpression() throws {
        let found = try members(
            """
            class A: NSManagedObject {
                var mean: Double { [1.0].reduce(1, /) } // mean
                var parts: Double { zip([1.0], [2.0]).map(/) /* both */ .reduce(0, +) }
                let one = /(a")[)"]\\)"/, two = [/b"/, /c\\/"/]
                @NSManaged var rest: Int
            }
            """)
        #expect(found == ["A.rest: Int"])
    }

    @Test func brokenSourcesAreRefusedWithTheirLine() {
        for (text, line) in [
            ("class A {\n  var x = 1\n", "1"), ("\n}", "2"), ("\n\n/* open", "3"),
            ("let a = 1\nlet s = \"open\n", "2"), ("func f() {\n", "1"), ("#endif\n", "1"),
        ] {
            let error = refusal(text)
            #expect(error?.code == .malformedSource)
            #expect(error?.fields["line"] == line, "\(text)")
        }
    }

    @Test func everyPrefixOfASourceIsReadOrRefused() throws {
        let text = """
            import Foundation
            #if os(Linux)
            public class A<T>: B {
                @NSManaged var a: [String: Set<C>?]; func f(_ x: Int) { "\\(x)" }
            }
            #endif
            extension A { @NSManaged func addToTags(_ a: [Tag], at b: Int) /* c */ }
            """
        for count in 0...text.count {
            let part = String(text.prefix(count))
            do {
                _ = try DeclarationReader.declarations(in: part, file: "Test.swift")
            } catch is CompilerError {}
        }
    }
}
