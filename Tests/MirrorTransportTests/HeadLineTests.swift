import Testing

@testable import MirrorTransport

/// Lines of an answer's head.
@Suite struct HeadLineTests {
    private func line<Value>(_ text: String, _ body: (HeadLine) -> Value) -> Value {
        Array(text.utf8).withUnsafeBytes { body(HeadLine($0)) }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", 200), ("HTTP/2 404 \r\n", 404), ("HTTP/1.1 100 Continue\n", 100),
        ("HTTP/1.1  503\r\n", 503), ("HTTP/1.1\r\n", 0), ("HTTP/1.1 two\r\n", 0),
        ("HTTP/1.1 99999999999999999999\r\n", 0),
    ])
    func aHeadBeginsWithItsStatus(_ text: String, _ status: Int) {
        #expect(line(text, \.status) == status)
        #expect(line(text, \.field) == nil)
    }

    @Test(arguments: [
        ("Content-Type: text/plain\r\n", "content-type", "text/plain"),
        ("RETRY-AFTER:5\n", "retry-after", "5"), ("X-Empty:\r\n", "x-empty", ""),
        ("X-Blank: \t \r\n", "x-blank", ""), ("Date: 12:00:01 \r\n", "date", "12:00:01"),
        (":lone\r\n", "", "lone"),
    ])
    func aFieldHasANameAndAValue(_ text: String, _ name: String, _ value: String) {
        #expect(line(text, \.field?.name) == name)
        #expect(line(text, \.field?.value) == value)
        #expect(line(text, \.status) == nil)
        #expect(!line(text, \.isEmpty))
    }

    @Test(arguments: ["\r\n", "\n", ""]) func anEmptyLineEndsTheHead(_ text: String) {
        #expect(line(text, \.isEmpty))
        #expect(line(text, \.field) == nil)
    }

    @Test func aLineOfNoUTF8IsReadAllTheSame() {
        let bytes: [UInt8] = Array("X-Name: ".utf8) + [0xFF, 0x20, 0x0D, 0x0A]
        let value = bytes.withUnsafeBytes { HeadLine($0).field?.value }
        #expect(value == "\u{FFFD}")
    }
}
