import ChildProcesses
import Foundation
import Testing

@testable import diptych

/// The parts that all output goes through.
@Suite struct OutputTests {
    @Test func whatActsIsSpelled() {
        #expect(
            PlainText.line("a\u{1B}[0m\r\n\tb\u{85}\u{202E}") == #"a\u{1B}[0m\r\n\tb\u{85}\u{202E}"#
        )
        #expect(PlainText.block("a\r\n\tb\u{0}") == "a\\r\n\tb\\u{0}")
        #expect(PlainText.line("é漢字😀👩‍👩‍👧 שלום") == "é漢字😀👩‍👩‍👧 שלום")
        for value in (0...0x10FFFF as ClosedRange<UInt32>).filter({ $0 < 0x20 || 0x7F...0x9F ~= $0 }
        ) {
            let scalar = Unicode.Scalar(value)
            #expect(scalar.map(PlainText.acts) == true)
        }
    }

    /// As another program on the same terminal or pipe may have set it.
    @Test func aDescriptorThatDoesNotWaitIsWaitedFor() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        let text = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        let writer = Thread {
            let failure = text.withUnsafeBytes { StandardStream.write($0, to: writing) }
            #expect(failure == nil)
            close(writing)
        }
        writer.start()
        var read: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4_096)
        while case let count = Foundation.read(reading, &block, block.count), count > 0 {
            read += block.prefix(count)
        }
        close(reading)
        #expect(read == text)
        let closed = [UInt8](repeating: 0, count: 1)
            .withUnsafeBytes { StandardStream.write($0, to: -1) }
        #expect(closed == EBADF)
    }

    @Test func widthsAreColumns() {
        let widths = [
            ("abc", 3), ("漢字", 4), ("e\u{301}", 1), ("한글", 4), ("ｱ", 1), ("Ａ", 2), ("😀", 2),
            ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("…", 1), ("–", 1), ("", 0), ("\u{1F468}\u{1F3FD}", 2),
        ]
        for (text, width) in widths {
            #expect(TextWidth.columns(of: text) == width, "\(text)")
        }
        #expect(PlainText.cut("漢字漢字", to: 5) == "漢字…")
        #expect(PlainText.cut("漢字", to: 4) == "漢字")
    }

    @Test(arguments: [
        "", "plain", "two words", "it's", "$HOME `x` \"y\"", "a\nb", "tab\t", "\u{1B}[31m", "é",
        "*?[!",
        "~", "-x", "a;b&c|d", "\\", "(x)", "#no",
    ]) func aShellReadsBackTheWord(word: String) throws {
        let workshop = try Workshop()
        let line = "printf %s \(ShellWord.quoted(word)) | od -An -v -tx1"
        let child = try workshop.start("/usr/bin/env", ["bash", "-c", line])
        child.wait()
        let bytes = child.printed.split(whereSeparator: \.isWhitespace).compactMap {
            UInt8($0, radix: 16)
        }
        #expect(bytes == Array(word.utf8))
        #expect(!ShellWord.quoted(word).unicodeScalars.contains(where: PlainText.acts))
    }

    @Test func figuresAreForPeople() {
        #expect(Figure.count(1200, "record") == "1,200 records")
        #expect(Figure.grouped(-1_234_567) == "-1,234,567")
        #expect(Figure.grouped(999) == "999")
        #expect(Figure.wait(7.372) == "8 s")
        #expect(Figure.wait(0.01) == "1 s")
        #expect(Figure.wait(300) == "5 min")
        #expect(Figure.seconds(0.0451) == "45 ms")
        #expect(Figure.seconds(13.04) == "13.0 s")
        #expect(SyncReport.left(400, of: 1200, seconds: 10) == ", 20 s left")
        #expect(SyncReport.left(0, of: 1200, seconds: 10) == "")
        #expect(SyncReport.left(1200, of: 1200, seconds: 10) == "")
    }
}
