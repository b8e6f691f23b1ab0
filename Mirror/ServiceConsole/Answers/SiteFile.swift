internal import Foundation
internal import RecordServer

/// A file of the page, as it is embedded in the program.
struct SiteFile {
    private let bytes: [UInt8]
    private let type: String

    /// nil where the page has no file of the name.
    init?(_ name: String) {
        guard let found = Self.files[name] else { return nil }
        (bytes, type) = found
    }

    private static let html = "text/html; charset=utf-8"
    private static let style = "text/css; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"

    private static let files: [String: ([UInt8], String)] = [
        "": (PackageResources.index_html, html),
        "console.css": (PackageResources.console_css, style),
        "console.js": (PackageResources.console_js, script),
        "service.js": (PackageResources.service_js, script),
        "elements.js": (PackageResources.elements_js, script),
        "charts.js": (PackageResources.charts_js, script),
        "overview.js": (PackageResources.overview_js, script),
        "records.js": (PackageResources.records_js, script),
        "record.js": (PackageResources.record_js, script),
        "values.js": (PackageResources.values_js, script),
        "changes.js": (PackageResources.changes_js, script),
        "people.js": (PackageResources.people_js, script),
        "shares.js": (PackageResources.shares_js, script),
        "schema.js": (PackageResources.schema_js, script),
        "device.js": (PackageResources.device_js, script),
        "account.js": (PackageResources.account_js, script),
        "administration.js": (PackageResources.administration_js, script),
        "storage.js": (PackageResources.storage_js, script),
        "keys.js": (PackageResources.keys_js, script),
        "roles.js": (PackageResources.roles_js, script),
        "acts.js": (PackageResources.acts_js, script),
        "person.js": (PackageResources.person_js, script),
        "deployment.js": (PackageResources.deployment_js, script),
        "fields.js": (PackageResources.fields_js, script),
        "icon.svg": (PackageResources.icon_svg, "image/svg+xml"),
    ]

    var answer: HTTPResponse { HTTPResponse(console: 200, type: type, Data(bytes)) }
}
