"""formulations"""
