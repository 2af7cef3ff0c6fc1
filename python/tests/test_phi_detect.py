"""The package as it is installed. Run by tests/python/run.sh with unittest."""

import importlib.resources
import threading
import time
import unittest

import phi_detect

SSN = "My SSN is 536-22-8741."
CLEAN = "What is the usual dose of amoxicillin?"


def spans(findings):
    return [(finding.type, finding.start, finding.end) for finding in findings]


class Scan(unittest.TestCase):
    def test_offsets_are_indexes_into_the_text(self):
        text = "👩‍⚕️🙂 naïve: " + SSN
        (finding,) = phi_detect.scan(text)
        self.assertEqual((finding.type, text[finding.start : finding.end]), ("ssn", "536-22-8741"))
        self.assertTrue(0 < finding.score <= 1 and finding.rule)

    def test_a_list_gives_a_list(self):
        self.assertEqual([spans(found) for found in phi_detect.scan([SSN, CLEAN, ""])], [[("ssn", 10, 21)], [], []])
        self.assertEqual(phi_detect.scan([]), [])

    def test_a_long_list_keeps_its_order(self):
        texts = [("x " * (index % 7)) + SSN for index in range(20_000)]
        starts = [found[0].start for found in phi_detect.scan(texts)]
        self.assertEqual(starts, [text.index("536") for text in texts])

    def test_findings_show_no_text(self):
        self.assertNotIn("536", repr(phi_detect.scan(SSN)))

    def test_what_is_no_text_is_refused(self):
        for wrong in (5, None, b"bytes", [1], ["a", None]):
            with self.assertRaises(TypeError):
                phi_detect.scan(wrong)
        with self.assertRaises(UnicodeEncodeError):
            phi_detect.scan("half a pair: \ud83d")


class Rewrite(unittest.TestCase):
    def test_mask_and_redact(self):
        self.assertEqual(phi_detect.mask(SSN), "My SSN is [SSN].")
        self.assertEqual(phi_detect.redact([SSN, CLEAN]), ["My SSN is .", CLEAN])

    def test_masking_twice_is_masking_once(self):
        once = phi_detect.mask("Patient Jane Roe, born 07/04/1961, " + SSN)
        self.assertEqual((phi_detect.mask(once), phi_detect.scan(once)), (once, []))


class Settings(unittest.TestCase):
    def test_thresholds_and_formats(self):
        text = "NPI 1234567893, seen as KH-204811"
        detector = phi_detect.Detector(thresholds={"npi": 0.5}, mrn_formats=["KH-999999"])
        self.assertEqual([finding.type for finding in detector.scan(text)], ["npi", "mrn"])
        self.assertNotIn("npi", [finding.type for finding in phi_detect.scan(text)])

    def test_profile_chooses_the_kinds(self):
        text = "NPI 1245319599, " + SSN
        for profile, kinds in (("eight", ["ssn"]), ("safe_harbor", ["npi", "ssn"])):
            found = phi_detect.Detector(profile=profile).scan(text)
            self.assertEqual([finding.type for finding in found], kinds)
        self.assertEqual(phi_detect.PROFILES, ("eight", "safe_harbor"))

    def test_wrong_settings_are_refused(self):
        for wrong in ({"profile": "hipaa"}, {"thresholds": {"ssn": 2}}, {"thresholds": {"nothing": 0.5}}, {"mrn_formats": ["A"]}):
            with self.assertRaises(ValueError):
                phi_detect.Detector(**wrong)

    def test_kinds_and_version(self):
        self.assertIn("ssn", phi_detect.KINDS)
        self.assertRegex(phi_detect.__version__, r"^\d+\.\d+\.\d+\+")


class Threads(unittest.TestCase):
    def test_other_threads_run_while_a_text_is_scanned(self):
        text = "Patient Jane Roe was seen. " * 40_000
        ticks, is_over = 0, threading.Event()

        def tick():
            nonlocal ticks
            while not is_over.is_set():
                ticks += 1
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        before, started = ticks, time.monotonic()
        phi_detect.scan(text)
        during, took = ticks - before, time.monotonic() - started
        is_over.set()
        thread.join()
        self.assertGreater(took, 0.02, "too short to tell")
        self.assertGreaterEqual(during, 3, f"no other thread ran in {took:.3f} s")


class Typing(unittest.TestCase):
    def test_the_package_says_that_it_is_typed(self):
        files = importlib.resources.files("phi_detect")
        self.assertTrue((files / "py.typed").is_file() and (files / "__init__.pyi").is_file())


if __name__ == "__main__":
    unittest.main()
