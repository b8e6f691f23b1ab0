"""What an administrator does at the console beside records: each verb of `diptych service`."""

import json
import subprocess

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

SCHEMA = """DEFINE SCHEMA
RECORD TYPE Book (
    isbn STRING QUERYABLE,
    colour STRING
);
"""


class Desk:
    """An administrator's browser, with words for what is done at each view."""

    def __init__(self, browser, service, container):
        self.browser = browser
        self.driver = browser.driver
        self.service = service
        self.container = container

    def fill(self, form, **values):
        """Types into the fields of the form or dialog of this name."""
        path = f"//*[(self::form or self::dialog) and @aria-label={json.dumps(form)}]"
        place = self.driver.find_elements(By.XPATH, path)[-1]
        for name, value in values.items():
            field = place.find_element(By.NAME, name)
            if field.tag_name == "select":
                Select(field).select_by_value(value)
            elif field.get_attribute("type") == "checkbox":
                if field.is_selected() != value:
                    self.browser.click(field)
            else:
                field.clear()
                field.send_keys(value)
        return place

    def press_beside(self, text, title):
        """The button in the table's row that has the text."""
        path = f"//tr[contains(., {json.dumps(text)})]//button[normalize-space()='{title}']"
        self.browser.until(lambda driver: driver.find_elements(By.XPATH, path), (text, title))
        self.browser.click(self.driver.find_element(By.XPATH, path))

    def agree(self, title, *names):
        """Agrees in the dialog that asks, which names what is meant and does not wait for Enter."""
        self.browser.until(lambda driver: driver.find_elements(By.TAG_NAME, "dialog"), names)
        dialog = self.driver.find_elements(By.TAG_NAME, "dialog")[-1]
        for name in names:
            assert name in dialog.text, (name, dialog.text)
        assert self.driver.switch_to.active_element.text == "Cancel", dialog.text
        self.browser.press(title)
        self.browser.until(lambda driver: not driver.find_elements(By.TAG_NAME, "dialog"), title)

    def agree_by_keyboard(self, title):
        """The button stands before the one that is chosen at first."""
        webdriver.ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(
            Keys.SHIFT).perform()
        active = self.driver.switch_to.active_element
        assert active.text == title, active.text
        active.send_keys(Keys.ENTER)
        self.browser.until(lambda driver: not driver.find_elements(By.TAG_NAME, "dialog"), title)

    def decline(self):
        self.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.browser.until(
            lambda driver: not driver.find_elements(By.TAG_NAME, "dialog"), "Escape")

    def told(self, text):
        notice = self.driver.find_element(By.ID, "notice")
        self.browser.until(lambda _: text in notice.text, f"'{text}', not '{notice.text}'")

    # Views

    def storage(self):
        browser = self.browser
        browser.go("Storage")
        browser.until_text("No backup was asked for here.")
        browser.until_text("diptych service restore")
        browser.press("Back up now")
        self.told("is made.")
        row = self.driver.find_element(By.XPATH, "//tbody/tr").text
        assert "nothing" in row and "not checked" in row, row
        browser.press("Check")
        self.told("is sound.")
        browser.press("Look through the bucket")
        self.told("in a folder")
        browser.shoot("storage")
        self.damaged_backup()
        self.bucket()

    def damaged_backup(self):
        browser = self.browser
        name = self.driver.find_element(By.CSS_SELECTOR, "tbody code").text
        file = self.service.data / "backups" / name
        sound = file.read_bytes()
        file.write_bytes(b"no database" * 100)
        browser.press("Check")
        self.told("is not whole")
        row = self.driver.find_element(By.XPATH, "//tbody/tr").text
        assert "not known" in row and "sound" not in row, row
        file.write_bytes(sound)
        browser.press("Check")
        self.told("is sound.")

    def bucket(self):
        """What a bucket would answer, in its place: none is at hand. Names in it are a stranger's."""
        browser = self.browser
        name = "<img src=x onerror=document.title='owned'>"
        report = {"objects": 3, "orphanCount": 2, "orphanBytes": 1500, "young": 0, "removed": 0,
                  "missingCount": 1, "orphans": [{"name": name, "bytes": 1500, "modified": 1}],
                  "missing": [{"name": "gone", "bytes": 7}]}
        self.driver.execute_script("""
            const [report, real] = [arguments[0], window.fetch];
            window.asked = [];
            window.fetch = (address, wish) => {
                if (!address.endsWith("/objects")) return real(address, wish);
                window.asked.push(wish.method);
                const removed = wish.method === "DELETE" ? 2 : 0;
                return Promise.resolve(new Response(JSON.stringify({ ...report, removed })));
            };
            window.restoreFetch = () => { window.fetch = real; };""", report)
        browser.press("Look through the bucket")
        browser.until_text("Named by nothing: 2")
        for text in [name, "1 more are not shown.", "Missing: 1", "gone"]:
            assert text in browser.text(), text
        browser.shoot("bucket")
        browser.press("Remove what nothing names")
        self.decline()
        browser.press("Remove what nothing names")
        self.agree("Remove", "2 objects", "1.5 kB", "bucket")
        self.told("2 objects are removed.")
        asked = self.driver.execute_script("window.restoreFetch(); return window.asked")
        assert asked == ["GET", "DELETE", "GET"], asked
        assert self.driver.title != "owned"

    def keys(self):
        browser = self.browser
        key = subprocess.run(
            ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout"],
            check=True, capture_output=True).stdout
        public = subprocess.run(
            ["openssl", "ec", "-pubout"], input=key, check=True, capture_output=True).stdout
        browser.go("Keys")
        browser.until_text("No server has a key.")
        self.fill("New key", label="importer", publicKey=key.decode())
        browser.press("Add key")
        self.told("private half")
        self.fill("New key", publicKey="-----BEGIN NOTHING-----", environment="production")
        browser.press("Add key")
        self.told("key")
        assert "importer" not in browser.text()
        self.fill("New key", publicKey=public.decode())
        browser.press("Add key")
        self.told("is added")
        assert not self.driver.find_element(By.NAME, "publicKey").get_attribute("value")
        browser.shoot("keys")
        self.press_beside("importer", "End")
        self.decline()
        self.press_beside("importer", "End")
        self.agree("End", "importer", self.container, "production")
        self.told("good for nothing")
        browser.until_text("ended")

    def person(self):
        browser = self.browser
        browser.go("Users and tokens")
        browser.until_text(self.container)
        browser.press("Cleo")
        browser.until_text("Does not sign in by password.")
        self.fill("What is known", givenName="Cleo", familyName="Óg", emailAddress="cleo@example.org",
                  discoverable=True)
        browser.press("Keep")
        self.told("What is known of the user is changed.")
        self.fill("Password", password="correct horse", again="correct house")
        browser.press("Give password")
        self.told("The two passwords differ.")
        secrets = self.driver.find_elements(By.CSS_SELECTOR, "input[type=password]")
        assert [secret.get_attribute("value") for secret in secrets] == ["", ""]
        self.fill("Password", password="correct horse", again="correct horse", signInName="cleo")
        browser.press("Give password")
        browser.until_text("Signs in at the console as cleo.")
        assert "horse" not in self.driver.page_source
        browser.shoot("person")
        browser.press("Forget at the provider")
        self.agree("Forget", "Cleo")
        self.told("No provider knows")
        browser.press("Take password")
        self.agree("Take password", "Cleo")
        browser.until_text("Does not sign in by password.")
        browser.press("End all tokens")
        self.agree("End all", "Cleo")
        self.told("tokens of Cleo ended.")
        self.press_beside("Cleo", "Quota")
        self.fill("What Cleo may keep", recordsMaxAny=True)
        browser.press("Keep")
        self.told("The quota is changed.")

    def roles(self):
        browser = self.browser
        browser.go("Roles")
        browser.press("Open")
        browser.until_text("Nothing is granted")
        self.fill("Grant", recordType="Note", role="editors", creates=True)
        browser.press("Grant")
        self.told("It is granted.")
        browser.until_text("create, read")
        self.fill("Give a role", role="editors")
        browser.press("Give")
        self.told("The role is given.")
        browser.shoot("roles")
        self.press_beside("editors", "Take")
        self.agree_by_keyboard("Take")
        browser.until_text("Nobody has a role")
        self.press_beside("Note", "Forget all of the type")
        self.agree("Forget", "Note", self.container)
        browser.until_text("Nothing is granted")

    def schema(self, folder):
        browser = self.browser
        browser.go("Schema")
        browser.press("Show")
        browser.until_text("Fields in development")
        self.fill("Take in a schema", text="RECORD (")
        browser.press("Preview")
        browser.until(lambda driver: driver.find_element(By.ID, "notice").text, "a refusal")
        self.fill("Take in a schema", text=SCHEMA)
        browser.press("Preview")
        browser.until_text("+ Book.isbn STRING QUERYABLE")
        browser.shoot("import")
        # Another text is another matter.
        self.driver.find_element(By.NAME, "text").send_keys("\n")
        assert "+ Book.isbn" not in browser.text()
        browser.press("Preview")
        browser.press("Take into development")
        self.agree("Take in", "3 changes", "development of " + self.container)
        self.told("has 3 changes")
        self.deploy(folder)
        self.retire()

    def deploy(self, folder):
        browser = self.browser
        browser.press("See what would be added")
        browser.until_text("+ Book.colour STRING")
        # Somebody else goes on meanwhile.
        file = folder / "more.ckdb"
        file.write_text(SCHEMA.replace("colour STRING", "colour STRING, pages INT64"))
        self.service.run("service", "schema", "--data", self.service.data, "--container",
                         self.container, "--import", file)
        browser.press("Deploy to production")
        self.agree("Deploy", self.container)
        self.told("look again")
        browser.press("See what would be added")
        browser.until_text("+ Book.pages INT64")
        self.compare(file)
        browser.shoot("deployment")
        browser.press("Deploy to production")
        self.agree("Deploy", self.container)
        self.told("Production of")

    def compare(self, file):
        """A text from a file, beside what development has of records."""
        self.driver.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(str(file.resolve()))
        box = self.driver.find_element(By.NAME, "text")
        self.browser.until(
            lambda _: box.get_attribute("value") == file.read_text(), "the file's text")
        self.fill("Take in a schema", other="development")
        self.browser.press("Compare")
        self.browser.until_text("- record type Note")
        assert "- record type Book" not in self.browser.text()

    def retire(self):
        browser = self.browser
        # What is typed elsewhere stays.
        self.fill("Take in a schema", text="DEFINE SCHEMA")
        self.press_beside("colour", "Retire …")
        dialog = self.fill("Retire Book.colour", **{"from": "soon"})
        browser.press("Retire")
        assert dialog.is_displayed(), "a version is numbers"
        self.fill("Retire Book.colour", **{"from": "2.10"})
        browser.shoot("retire")
        browser.press("Retire")
        browser.until_text("from 2.10")
        typed = self.driver.find_element(By.NAME, "text").get_attribute("value")
        assert typed == "DEFINE SCHEMA", typed
        named = "//button[@aria-label='Keep Book.colour']"
        assert self.driver.find_elements(By.XPATH, named), "a button says of what it is"
        self.press_beside("colour", "Keep")
        self.told("All clients see Book.colour")
        self.press_beside("colour", "Retire …")
        self.fill("Retire Book.colour", **{"from": "3"})
        browser.press("Retire")
        browser.until_text("from 3")
        self.press_beside("colour", "Take out …")
        self.agree("Take out", "Book.colour", "0 records")
        self.told("is taken out of 0 records")
        self.fill("Unique fields", recordType="Book", fields="isbn")
        browser.press("Make unique")
        self.told("No two records")
        browser.shoot("fields")
        self.press_beside("Book", "Let be alike")
        self.agree("Let be alike", "Book (isbn)")
        self.told("need not be unique")

    def audit(self):
        browser = self.browser
        browser.go("Audit")
        browser.until_text("schema deployed")
        for words in ["backup", "server key added", "server key revoked", "profile changed",
                      "password changed", "grant changed", "token desk"]:
            assert words in browser.text(), words
        browser.shoot("audit")

    def look_at_dialogs(self, prefix):
        """What is asked and told in front of the page fits into the window."""
        browser = self.browser
        browser.go("Users and tokens")
        for text, opener, name in [("Cleo", "Quota", "quota"), ("phone", "Revoke", "revoke")]:
            self.press_beside(text, opener)
            box = self.driver.find_element(By.TAG_NAME, "dialog")
            wide = self.driver.execute_script(
                "return arguments[0].scrollWidth > arguments[0].clientWidth", box)
            assert not wide, name
            browser.expect_narrow(name)
            browser.shoot(prefix + name)
            self.decline()

    def end_the_session(self):
        """Who is signed out in the middle of a question is shown where to sign in."""
        browser = self.browser
        browser.go("Users and tokens")
        self.press_beside("Cleo", "Quota")
        self.driver.delete_all_cookies()
        browser.press("Keep")
        browser.until_text("By token")
        assert not self.driver.find_elements(By.TAG_NAME, "dialog")
        assert "Cleo" not in browser.text()

    def look_at_all(self, prefix):
        """Each view as it opens, and what opens in it."""
        browser = self.browser
        for title, opener, text in [
            ("Storage", None, "records-"), ("Keys", None, "importer"), ("Roles", "Open", "Members"),
            ("Schema", "Show", "Take in"), ("Users and tokens", "Cleo", "Give password"),
            ("Audit", None, "schema deployed"),
        ]:
            browser.go(title)
            if opener:
                browser.press(opener)
            browser.until_text(text)
            browser.shoot_whole(prefix + title.split()[0].lower())
            browser.expect_narrow(title)
