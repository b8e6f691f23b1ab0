import Foundation
import RecordWire
import Testing

/// The reader of JSON: what it takes, and what it makes of numbers and texts.
@Suite struct JSONReadingTests {
    /// The value of an untyped or typed field, as a request carries it.
    private func value(_ json: String, type: String? = nil) throws -> FieldValue? {
        let type = type.map { ",\"type\":\"\($0)\"" } ?? ""
        let body = Malformed.field("{\"value\":\(json)\(type)}", "").body
        let request = try WireCodec.decodeRequest(
            path: "records/modify", method: "POST", body: Data(body.utf8))
        guard case .modifyRecords(let modify) = request else { return nil }
        return modify.operations.first?.record.fields["f"] ?? nil
    }

    @Test(
        arguments: [
            ("1.0", 1), ("1e2", 100), ("-0", 0), ("0.5e1", 5), ("0e999", 0), ("-1E+1", -10),
            ("9007199254740993.0", 9_007_199_254_740_993), ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("-9223372036854775808.000", .min),
            ("100000000000000000000e-2", 1_000_000_000_000_000_000),
            ("0.00000000000000000000001e23", 1), ("\"-7\"", -7),
        ] as [(String, Int64)])
    func aWholeNumberKeepsAllDigits(_ json: String, _ number: Int64) throws {
        #expect(try value(json, type: "INT64") == .int64(number))
    }

    @Test(arguments: [
        "1e-1", "9223372036854775808", "-9223372036854775809", "9223372036854775807.5", "1e19",
        "1e999999999999999999999", "1.0000000000000000000000000000001",
    ])
    func whatIsNoWholeNumberOf64BitsIsRefused(_ json: String) throws {
        let error = #expect(throws: RecordError.self) { try value(json, type: "INT64") }
        #expect(error?.reason.contains("f.value is no whole number of 64 bits") == true)
    }

    @Test(arguments: [
        "0.1", "1e22", "1e23", "-0.0", "5e-324", "1.7976931348623157e308", "123456789012345678",
        "9007199254740993", "0.30000000000000004", "1e-999", "3.141592653589793238462643383279",
        "12345.6789e-3", "0.000001",
    ])
    func aDoubleIsTheNearest(_ json: String) throws {
        guard case .double(let read)? = try value(json, type: "DOUBLE") else {
            Issue.record("\(json) is no double.")
            return
        }
        #expect(read.bitPattern == Double(json)?.bitPattern)
    }

    @Test func escapesStandForWhatTheyAre() throws {
        #expect(
            try value(#""\u0041\ud83d\ude00\/\b\f\n\r\t\"\\\u00e9\u0000""#)
                == .string("A\u{1F600}/\u{8}\u{C}\n\r\t\"\\\u{E9}\u{0}"))
        let body = #"{"\u006fperations":[{"operationTyp\u0065":"create","record":{}}]}"#
        let request = try WireCodec.decodeRequest(
            path: "records/modify", method: "POST", body: Data(body.utf8))
        #expect(request.operationsCount == 1)
    }

    @Test(arguments: [#""\ud800""#, #""\udc00\ud800""#, #""\ud800\u0041""#, #""\ud83dx""#])
    func halfAPairIsNoCharacter(_ json: String) throws {
        let error = #expect(throws: RecordError.self) { try value(json, type: "STRING") }
        #expect(error?.reason.contains("f.value is text with an escape") == true)
    }

    @Test(arguments: [
        #"{"\ud800":1}"#, #"{"a":"\x"}"#, #"{"a":"\u12g4"}"#, "{\"a\":\"\n\"}", #"{"a":"b}"#,
        #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":+1}"#, #"{"a":1e}"#, #"{"a":-}"#,
        #"{"a":1,}"#, #"{"a" 1}"#, "{a:1}", "{'a':1}", #"{"a":tru}"#, #"{"a":NaN}"#, "{} {}", "{]",
        #"{"a":[1,]}"#, #"{"a":[1 2]}"#, "{\u{0}}",
    ])
    func whatIsNoJSONIsRefusedWithItsPlace(_ body: String) throws {
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(
                path: "zones/list", method: "POST", body: Data(body.utf8))
        }
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains("The body is not valid JSON: ") == true)
    }

    @Test(
        arguments: [
            ([0xC0, 0x80], 0), ([0x41, 0xED, 0xA0, 0x80], 1), ([0xF5, 0x80, 0x80, 0x80], 0),
            ([0xE0, 0x80, 0x80], 0), ([0xF0, 0x80, 0x80, 0x80], 0), ([0xF4, 0x90, 0x80, 0x80], 0),
            ([0xC3, 0xA9, 0xC3], 2), ([0x80], 0), ([0xE2, 0x82], 0),
        ] as [([UInt8], Int)])
    func bytesThatAreNoUTF8AreToldByTheirPlace(_ bytes: [UInt8], _ place: Int) throws {
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(path: "zones/list", method: "POST", body: Data(bytes))
        }
        #expect(error?.reason.contains("no UTF-8 from byte \(place) on") == true)
    }

    @Test func aByteOrderMarkIsPassedOver() throws {
        let request = try WireCodec.decodeRequest(
            path: "zones/list", method: "POST", body: Data([0xEF, 0xBB, 0xBF]) + Data("{}".utf8))
        #expect(request == .listZones)
    }

    @Test func anAnswerThatNamesAKeyTwiceIsReadByTheFirst() throws {
        let text = #"{"userRecordName":"one","userRecordName":"two"}"#
        #expect(
            try WireCodec.decodeResponse(to: .caller, Data(text.utf8))
                == .caller(CallerReply(userRecordName: "one")))
    }

    /// Foundation is the judge of what is JSON, on small texts of all that its grammar has.
    @Test func itTakesWhatFoundationTakes() throws {
        let pieces = [
            "{", "}", "[", "]", "\"", ",", ":", "0", "1", "-", ".", "true", "false", "null", " ",
            "\\n", "\\\"", "a", "\n", "\u{E9}", "\"a\":", "[]", "1.5", "\"\"",
        ]
        var random = RandomRecords(seed: 5)
        var sound = 0
        for _ in 0..<20_000 {
            let text = (0...random.below(6)).map { _ in pieces[random.below(pieces.count)] }
                .joined()
            let whole = "{\"userRecordName\":\"u\",\"x\":\(text)}"
            // Foundation takes a comma before the end of an object, which is no JSON.
            guard !whole.filter({ !$0.isWhitespace }).contains(",}") else { continue }
            let body = Data(whole.utf8)
            let isJSON = (try? JSONSerialization.jsonObject(with: body)) != nil
            let isRead = (try? WireCodec.decodeResponse(to: .caller, body)) != nil
            #expect(isJSON == isRead, "\(text)")
            if isJSON { sound += 1 }
        }
        #expect(sound > 500)
    }
}

extension RecordRequest {
    fileprivate var operationsCount: Int {
        if case .modifyRecords(let modify) = self { modify.operations.count } else { 0 }
    }
}
