import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import RecordWire
import Stores
import Testing

/// Texts keep what either side put in; sets keep what either added and lose what either removed.
@Suite struct TextMergeTests {
    private func merge(_ base: String?, _ local: String, _ remote: String) -> String? {
        let merged = TextMerge.merge(base: base, local: local, remote: remote)
        #expect(merged == TextMerge.merge(base: base, local: remote, remote: local))
        return merged
    }

    @Test func editsAtDifferentPlacesAreBothThere() {
        #expect(merge("one\ntwo\nthree", "ONE\ntwo\nthree", "one\ntwo\nTHREE") == "ONE\ntwo\nTHREE")
        #expect(
            merge("the cat sat", "the big cat sat", "the cat sat down") == "the big cat sat down")
        #expect(merge("a\nb", "a\nb\nc", "z\na\nb") == "z\na\nb\nc")
    }

    @Test func insertionsAtOnePlaceAreBothThereInOneOrder() {
        #expect(merge("ab", "a-b", "a+b") == "a+-b")
        #expect(merge("a", "a\nmine", "a\nhers") == "a\nhers\nmine")
        #expect(merge("a\n", "a\nsame", "a\nsame") == "a\nsame")
    }

    /// Lines that only one text has are looked for in no other.
    @Test func textsThatWereRewrittenInWholeAreMergedAtOnce() {
        let texts = ["base", "mine", "hers"].map { author in
            (0..<4_900).map { "\(author) \($0)" }.joined(separator: "\n")
        }
        var start = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
        let merged = merge(texts[0], texts[1], texts[2])
        var end = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        #expect(merged == texts[2] + "\n" + texts[1])
        #expect(end.tv_sec - start.tv_sec < 10)
    }

    @Test func whatOneSideRemovedIsGoneAndWhatTheOtherPutInsideItStays() {
        #expect(
            merge("keep this please", "keep please", "keep this, really, please")?
                .contains("really") == true)
        #expect(
            merge("one\ntwo\nthree", "one\nthree", "one\ntwo\nthree\nfour") == "one\nthree\nfour")
    }

    /// "\r\n" is one character of Swift's, and no line feed.
    @Test(arguments: ["\n", "\r\n"])
    func linesEndEitherWay(ending: String) {
        func text(_ lines: String...) -> String { lines.joined(separator: ending) }
        let long = String(repeating: "word ", count: 2_000)
        for rest in ["two", long] {
            #expect(
                merge(
                    text("one", rest, "three"), text("ONE", rest, "three"),
                    text("one", rest, "THREE")) == text("ONE", rest, "THREE"))
            #expect(
                merge(text("a", rest), text("a", rest, "mine"), text("z", "a", rest))
                    == text("z", "a", rest, "mine"))
        }
        let many = Array(repeating: "line", count: 6_000).joined(separator: ending)
        #expect(merge(many, many + "x", many + "y") == nil)
    }

    @Test func anEndingThatOneSideChangedIsTakenWithTheOthersLines() {
        let base = "one\ntwo\nthree"
        #expect(
            merge(base, "one\r\ntwo\r\nthree", "one\ntwo\nTHREE") == "one\r\ntwo\r\nTHREE")
        // Ends that are mixed, or a carriage return of old, stay with their lines.
        #expect(
            merge("one\r\ntwo\nthree", "ONE\r\ntwo\nthree", "one\r\ntwo\nTHREE")
                == "ONE\r\ntwo\nTHREE")
        #expect(merge("a\rb\nc", "A\rb\nc", "a\rb\nC") == "A\rb\nC")
    }

    @Test func rewrittenWordsStayWhole() {
        let merged = merge("name: old", "name: nearby", "name: elsewhere") ?? ""
        #expect(merged.contains("nearby") && merged.contains("elsewhere"))
    }

    @Test func lettersAreNotTorn() {
        let family = "👨\u{200D}👩\u{200D}👧"
        #expect(
            merge("x", "x\(family)", "x🇩🇪") == "x🇩🇪\(family)"
                || merge("x", "x\(family)", "x🇩🇪") == "x\(family)🇩🇪")
        #expect(merge("cafe", "caf\u{65}\u{301}", "cafe!") == "caf\u{65}\u{301}!")
        // The same letter by other bytes is an edit too.
        let respelled = merge("\u{E9} a", "e\u{301} a", "\u{E9} b") ?? ""
        #expect(respelled.utf8.elementsEqual("e\u{301} b".utf8))
        #expect(merge("a\r\nb", "a\r\nb\r\nc", "0\r\na\r\nb") == "0\r\na\r\nb\r\nc")
    }

    @Test func withoutABaseWhatIsAlikeIsThereOnce() {
        #expect(merge(nil, "Hello world", "Hello world!") == "Hello world!")
        #expect(merge(nil, "same", "same") == "same")
    }

    @Test func textsOfTooManyLinesAreLeftToTheStandardRule() {
        let long = String(repeating: "line\n", count: 6_000)
        #expect(merge(long, long + "a", long + "b") == nil)
    }

    @Test func longLinesAreMergedWhole() {
        let line = String(repeating: "word ", count: 2_000)
        let merged = merge(line, line + "mine", line + "hers") ?? ""
        #expect(merged.contains("mine") && merged.contains("hers"))
    }

    /// Every word that either side put in is in the result, whole, and every one that a side
    /// removed and the other left alone is gone.
    @Test(arguments: 0..<300)
    func noInsertionIsLost(seed: UInt64) throws {
        let dice = SeededRandomness(seed: seed)
        let words = (0..<dice.below(30)).map { "w\($0)" }
        func joined(_ words: [String]) -> String {
            words.enumerated().map { $0.element + ($0.offset % 5 == 4 ? "\n" : " ") }.joined()
        }
        func edited(_ mark: String) -> ([String], added: [String], removed: Set<String>) {
            var (own, added, removed): ([String], [String], Set<String>) = (words, [], [])
            for number in 0...dice.below(4) {
                if dice.chance(percent: 60) || own.isEmpty {
                    added.append("<\(mark)\(number)é>")
                    own.insert(added[added.count - 1], at: dice.below(own.count + 1))
                } else {
                    removed.insert(own.remove(at: dice.below(own.count)))
                }
            }
            return (own, added.filter { own.contains($0) }, removed)
        }
        let (one, other) = (edited("a"), edited("b"))
        // Lines are broken anew by each edit, which touches many stretches.
        let merged = try #require(merge(joined(words), joined(one.0), joined(other.0)))
        for word in one.added + other.added {
            #expect(merged.contains(word), "\(word) is not in \(merged)")
        }
        #expect(merge(joined(words), joined(words), joined(other.0)) == joined(other.0))
    }

    // MARK: Sets

    private func state(_ labels: AttributeValue) throws -> ObjectState {
        var state = ObjectState(empty: try entity())
        state.attributes[try #require(try entity().attributeSlot("title"))] = labels
        return state
    }

    private func entity() throws -> EntityLayout {
        try #require(ModelLayout(model: SampleModel.make()).entity(named: "Note"))
    }

    private func set(
        _ base: AttributeValue, _ local: AttributeValue, _ remote: AttributeValue
    ) throws -> AttributeValue {
        var policy = MergePolicy()
        policy.set(.set, entity: "Note", property: "title")
        let merge = ObjectMerge(policy: policy, entity: try entity())
        let slot = try #require(try entity().attributeSlot("title"))
        let one = merge.merge(
            base: try state(base), local: try state(local), remote: try state(remote))
        let other = merge.merge(
            base: try state(base), local: try state(remote), remote: try state(local))
        // Archives of equal sets may differ in their bytes.
        if case .text = one.merged.attributes[slot] {
            #expect(one.merged.attributes[slot] == other.merged.attributes[slot])
        }
        #expect(one.conflicts.count == 1)
        return one.merged.attributes[slot]
    }

    @Test func setsGainWhatEitherAddedAndLoseWhatEitherRemoved() throws {
        #expect(try set(.text("a\nb"), .text("a\nb\nc"), .text("b")) == .text("b\nc"))
        #expect(try set(.null, .text("x"), .text("y")) == .text("x\ny"))
        #expect(try set(.text("a\nb"), .text("b"), .text("a")) == .text(""))
        // What one side says already is left as it stands there.
        #expect(try set(.text("a"), .text("b\na"), .text("a\nb\nc")) == .text("a\nb\nc"))
        #expect(try set(.text("a"), .null, .text("a\nb")) == .text("b"))
    }

    @Test func linesOfSetsEndEitherWay() throws {
        let union = AttributeValue.text("a\r\nb\r\nc\r\nd")
        #expect(
            try set(.text("a\r\nb"), .text("a\r\nb\r\nc"), .text("a\r\nb\r\nd")) == union)
        #expect(try set(.text("a\nb"), .text("a\nb\nc"), .text("a\r\nb\r\nd")) == union)
        #expect(try set(.text("a\r\nb"), .text("b"), .text("a\r\nb\r\n")) == .text("b"))
    }

    @Test func archivedSetsAreMergedToo() throws {
        func archive(_ elements: [String]) throws -> AttributeValue {
            .data(
                try NSKeyedArchiver.archivedData(
                    withRootObject: NSArray(array: elements), requiringSecureCoding: true))
        }
        let merged = try set(archive(["a", "b"]), archive(["a", "b", "c"]), archive(["b"]))
        guard case .data(let data) = merged else { throw Missing(name: "data") }
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, NSString.self], from: data)
        #expect(read as? [String] == ["b", "c"])
        // What is no set gives way to the standard rule.
        #expect(
            try ObjectMerge(policy: MergePolicy(standard: .set), entity: entity())
                .merge(
                    base: state(.null), local: state(.data(Data([1]))),
                    remote: state(.data(Data([2])))
                ).merged == state(.data(Data([1]))))
    }

    /// Devices that meet in any order end with all that was added and never removed.
    @Test(arguments: 0..<20)
    func devicesAgreeOnTextsAndSets(seed: UInt64) throws {
        let model = SampleModel.make()
        model.entitiesByName["Note"]?.attributesByName["title"]?.userInfo = ["MirrorMerge": "text"]
        model.entitiesByName["Folder"]?.attributesByName["name"]?.userInfo = ["MirrorMerge": "set"]
        let service = try Device.service()
        let devices = try (1...3).map { try Device(seed * 10 + $0, service, model: model) }
        try devices[0].insert("Note", ["title": .text("start middle end")])
        try devices[0].insert("Folder", ["name": .text("red\ngreen")])
        for device in devices { try device.sync() }
        let dice = SeededRandomness(seed: seed)
        for (number, device) in devices.enumerated() {
            let note = try device.only("Note")
            if case .text(let text)? = try device.value(note, "title") {
                var words = text.split(separator: " ").map(String.init)
                words.insert("new\(number)", at: dice.below(words.count + 1))
                try device.set(note, "title", .text(words.joined(separator: " ")))
            }
            let folder = try device.only("Folder")
            try device.set(
                folder, "name", .text(number == 1 ? "green\nblue1" : "red\ngreen\nblue\(number)"))
            if dice.chance(percent: 50) { try device.sync() }
        }
        for _ in 0..<4 { for device in devices { try device.sync() } }
        for device in devices {
            guard case .text(let title)? = try device.value(device.only("Note"), "title") else {
                throw Missing(name: "title")
            }
            for number in 0..<3 { #expect(title.contains("new\(number)")) }
            #expect(try devices[0].value(devices[0].only("Note"), "title") == .text(title))
            #expect(
                try device.value(device.only("Folder"), "name")
                    == .text("blue0\nblue1\nblue2\ngreen"))
        }
    }
}
